-- Writes the settings of the cluster, unless there are some.
local refused = heard(now)
if refused then
    return refused
end
redis.call('SETNX', SETTINGS, ARGV[5])
return { 'done', redis.call('GET', SETTINGS) }
