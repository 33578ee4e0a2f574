-- Gives up the lease of this token, and wakes those who wait.
local refused = heard(now)
if refused then
    return refused
end
if redis.call('HGET', LEASE, 'token') ~= ARGV[5] then
    return { 'refused', 'lost' }
end
redis.call('DEL', LEASE)
publish('released')
return { 'done' }
