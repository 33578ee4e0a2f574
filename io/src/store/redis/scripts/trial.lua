-- Tries every command of the scripts on a key of its own. Returns the commands that failed, each with its error.
local KEY, CHANNEL, failed = KEYS[1], ARGV[1], {}

local function try(command, ...)
    local reply = redis.pcall(command, ...)
    if type(reply) == 'table' and reply.err then
        failed[#failed + 1] = command
        failed[#failed + 1] = reply.err
    end
end

try('DEL', KEY)
try('TIME')
try('INFO', 'server')
try('INFO', 'replication')
try('PUBLISH', CHANNEL, 'trial')
try('EXISTS', KEY)
try('SETNX', KEY, '')
try('GET', KEY)
try('DEL', KEY)
try('HSET', KEY, 'field', '1')
try('HSETNX', KEY, 'field', '1')
try('HINCRBY', KEY, 'field', 1)
try('HGET', KEY, 'field')
try('HMGET', KEY, 'field')
try('HEXISTS', KEY, 'field')
try('HGETALL', KEY)
try('HDEL', KEY, 'field')
try('DEL', KEY)
try('ZADD', KEY, 1, 'member')
try('ZSCORE', KEY, 'member')
try('ZRANGEBYSCORE', KEY, '-inf', 1)
try('ZREM', KEY, 'member')
try('DEL', KEY)
return failed
