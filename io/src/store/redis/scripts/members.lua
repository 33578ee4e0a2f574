-- Reads the entries of living sessions.
local refused = heard(now)
if refused then
    return refused
end
local reply, entries = { 'done' }, redis.call('HGETALL', DIRECTORIES[ARGV[5]])
for place = 1, #entries, 2 do
    if lives(entries[place]) then
        reply[#reply + 1] = entries[place]
        reply[#reply + 1] = entries[place + 1]
    end
end
return reply
