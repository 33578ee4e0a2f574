-- Registers a member for as long as this session lives.
local name, entry = ARGV[5], ARGV[6]
local refused = heard(now)
if refused then
    return refused
end
if redis.call('HEXISTS', DIRECTORIES[name], SESSION) == 1 then
    return { 'refused', 'exists' }
end
local created = text(redis.call('HINCRBY', STORE, 'created', 1))
redis.call('HSET', DIRECTORIES[name], SESSION, '{"created":' .. created .. ',' .. entry:sub(2))
publish(name .. ' ' .. SESSION)
return { 'done' }
