-- Reads the lease.
local refused = heard(now)
if refused then
    return refused
end
local held = lease(now)
if held then
    return { 'held', held.token, held.owner, held.id, held.epoch, text(held.left) }
end
local left = closed_for(now)
if left > 0 then
    return { 'closed', text(left) }
end
return { 'free' }
