-- Reads the entry of a session.
local name, session = ARGV[5], ARGV[6]
local refused = heard(now)
if refused then
    return refused
end
local entry = lives(session) and redis.call('HGET', DIRECTORIES[name], session)
if not entry then
    return { 'refused', 'missing' }
end
return { 'done', entry }
