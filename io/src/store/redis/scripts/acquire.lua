-- Takes the lease if it is free, and writes the record of the term.
local token, ttl, incarnation, id, address = ARGV[5], tonumber(ARGV[6]), ARGV[7], ARGV[8], ARGV[9]
if not ttl or ttl <= 0 then
    return redis.error_reply('ERR a time to live of ' .. tostring(ARGV[6]) .. ' ms')
end
local refused = heard(now)
if refused then
    return refused
end
local held = lease(now)
if held then
    return { 'held', held.token, held.owner, held.id, held.epoch, text(held.left) }
end
asked_for(ttl)
local left = closed_for(now)
if left > 0 then
    return { 'closed', text(left) }
end
redis.call('HSETNX', STORE, 'incarnation', incarnation)
incarnation = redis.call('HGET', STORE, 'incarnation')
local epoch = text(redis.call('HINCRBY', STORE, 'epoch', 1))
redis.call('DEL', LEASE, TERM)
redis.call('HSET', LEASE, 'token', token, 'session', SESSION, 'id', id, 'epoch', epoch, 'ttl', text(ttl), 'ends', text(now + ttl))
redis.call('HSET', TERM, 'incarnation', incarnation, 'epoch', epoch, 'id', id, 'address', address)
return { 'done', incarnation, epoch }
