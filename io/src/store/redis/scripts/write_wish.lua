-- Writes the wish of an operator, if its record still has this version; without a version, if there is none.
local over, data = ARGV[5], ARGV[6]
local refused = heard(now)
if refused then
    return refused
end
local stands, version = redis.call('EXISTS', WISH) == 1, 0
if stands then
    local read = redis.pcall('HGET', WISH, 'version')
    version = type(read) == 'string' and tonumber(read) or 0
end
if stands ~= (over ~= '') or stands and version ~= tonumber(over) then
    return { 'refused', 'overtaken' }
end
local next = text(stands and version + 1 or 0)
redis.call('DEL', WISH)
redis.call('HSET', WISH, 'version', next, 'data', data)
publish('wish')
return { 'done', next }
