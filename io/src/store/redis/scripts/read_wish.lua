-- Reads the wish of an operator, and the version of its record.
local refused = heard(now)
if refused then
    return refused
end
if redis.call('EXISTS', WISH) == 0 then
    return { 'done', 'nobodys' }
end
local record = redis.pcall('HMGET', WISH, 'version', 'data')
if record.err then
    return { 'done', 'found', '', '' }
end
return { 'done', 'found', record[1] or '', record[2] or '' }
