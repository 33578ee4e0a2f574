-- Deletes the entry of a session.
local name, session = ARGV[5], ARGV[6]
local refused = heard(now)
if refused then
    return refused
end
if redis.call('HDEL', DIRECTORIES[name], session) == 0 then
    return { 'refused', 'missing' }
end
publish(name .. ' ' .. session)
return { 'done' }
