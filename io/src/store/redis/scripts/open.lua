-- Opens a session on a new connection, or resumes it there. Nothing of its earlier connections happens after that.
local is_new, day = ARGV[5] == 'new', 86400000
if lives(SESSION) then
    if tonumber(redis.call('HGET', LINKS, SESSION)) >= LINK then
        return { 'superseded' }
    end
elseif not is_new then
    return { 'over' }
end
redis.call('HSET', LINKS, SESSION, text(LINK))
redis.call('ZADD', SESSIONS, text(now + TIMEOUT), SESSION)
return { 'done' }
