-- Reads the record of the latest term.
local refused = heard(now)
if refused then
    return refused
end
if redis.call('EXISTS', TERM) == 0 then
    return { 'refused', 'missing' }
end
local record = redis.pcall('HMGET', TERM, 'incarnation', 'epoch', 'id', 'address')
if record.err then
    return { 'refused', 'malformed' }
end
return { 'done', record[1] or '', record[2] or '', record[3] or '', record[4] or '' }
