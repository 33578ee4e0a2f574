-- Ends the session, and deletes what it owns.
local refused = heard(now)
if refused then
    return refused
end
if redis.call('HGET', LEASE, 'session') == SESSION then
    redis.call('DEL', LEASE)
    publish('released')
end
end_session(SESSION)
return { 'done' }
