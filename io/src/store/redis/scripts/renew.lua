-- Prolongs the lease of this token. A lease that has ended is not taken again.
local token, ttl = ARGV[5], tonumber(ARGV[6])
if not ttl or ttl <= 0 then
    return redis.error_reply('ERR a time to live of ' .. tostring(ARGV[6]) .. ' ms')
end
local refused = heard(now)
if refused then
    return refused
end
local held = lease(now)
if not held or held.token ~= token then
    return { 'refused', 'lost' }
end
asked_for(ttl)
redis.call('HSET', LEASE, 'ttl', text(ttl), 'ends', text(now + ttl))
return { 'done' }
