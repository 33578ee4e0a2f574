-- Every script begins with this part: the server's life, the store's clock, and the session that asks.
local STORE, LEASE, TERM, SESSIONS, LINKS, WORKERS, COORDINATORS, SETTINGS, WISH = unpack(KEYS)
local CHANNEL, SESSION, LINK, TIMEOUT = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])

local DIRECTORIES = { workers = WORKERS, coordinators = COORDINATORS }
local NO_HISTORY = string.rep('0', 40)

-- Numbers as text: Lua would write large ones with an exponent.
local function text(number)
    return string.format('%.0f', number)
end

local function publish(change)
    redis.call('PUBLISH', CHANNEL, change)
end

-- Restarted processes and promoted replicas may lack the last writes of the server before them. A process has its run
-- id for life. Its replication id changes when it is promoted, and also when a first replica attaches or a last one
-- has been gone for long; but only one that was promoted remembers the id before.
local function life_goes_on(run, replication)
    local server, history = redis.call('INFO', 'server'), redis.call('INFO', 'replication')
    local run_now, replication_now = server:match('run_id:(%w+)'), history:match('master_replid:(%w+)')
    local goes_on = run == run_now
        and (replication == replication_now or history:match('master_replid2:(%w+)') == NO_HISTORY)
    if run ~= run_now or replication ~= replication_now then
        redis.call('HSET', STORE, 'run', run_now, 'replication', replication_now)
    end
    return goes_on
end

-- The store's clock, in milliseconds. The server's wall clock drives it, but may step: the store's clock never goes
-- back, and never on by more than a quarter of the lease between two calls (or of the caller's session, if it is shorter).
local function tick()
    local clock, wall, run, replication = unpack(redis.call('HMGET', STORE, 'clock', 'wall', 'run', 'replication'))
    local time = redis.call('TIME')
    local now_wall = time[1] * 1000 + math.floor(time[2] / 1000)
    local ttl = tonumber(redis.call('HGET', LEASE, 'ttl')) or TIMEOUT
    local limit = math.floor(math.min(ttl, TIMEOUT) / 4)
    local passed = wall and now_wall - wall or 0
    local now = (tonumber(clock) or 0) + math.max(0, math.min(passed, limit))
    redis.call('HSET', STORE, 'clock', text(now), 'wall', text(now_wall))
    if not life_goes_on(run, replication) then
        -- Nobody knows who held the lease, or until when. See `acquire`.
        redis.call('HSET', STORE, 'born', text(now))
        redis.call('HDEL', STORE, 'incarnation')
        redis.call('DEL', LEASE)
    end
    return now
end

local function end_session(session)
    redis.call('ZREM', SESSIONS, session)
    redis.call('HDEL', LINKS, session)
    for name, directory in pairs(DIRECTORIES) do
        if redis.call('HDEL', directory, session) == 1 then
            publish(name .. ' ' .. session)
        end
    end
end

local function lives(session)
    return redis.call('ZSCORE', SESSIONS, session)
end

-- Sessions that are over, and what they own, go before anything else is done.
local function end_what_is_over(now)
    for _, session in ipairs(redis.call('ZRANGEBYSCORE', SESSIONS, '-inf', text(now))) do
        end_session(session)
    end
end

-- Prolongs the session that asks. Fails if it is over, or if a later connection of it was heard.
local function heard(now)
    if not lives(SESSION) then
        return { 'over' }
    end
    if tonumber(redis.call('HGET', LINKS, SESSION)) ~= LINK then
        return { 'superseded' }
    end
    redis.call('ZADD', SESSIONS, text(now + TIMEOUT), SESSION)
end

-- The lease with the time that is left of it, in milliseconds; nothing if it is free.
local function lease(now)
    local token, owner, id, epoch, ends = unpack(redis.call('HMGET', LEASE, 'token', 'session', 'id', 'epoch', 'ends'))
    local left = token and tonumber(ends) - now or 0
    if left > 0 then
        return { token = token, owner = owner, id = id, epoch = epoch, left = left }
    end
end

-- Time for which nobody may lead yet, in milliseconds: somebody may still do so under a lease that was lost with the server
-- before, and the longest one ever asked for has to pass.
local function closed_for(now)
    local born, longest = unpack(redis.call('HMGET', STORE, 'born', 'longest'))
    return born + (tonumber(longest) or 0) - now
end

-- The longest lease ever asked for outlives the lease.
local function asked_for(ttl)
    if ttl > (tonumber(redis.call('HGET', STORE, 'longest')) or 0) then
        redis.call('HSET', STORE, 'longest', text(ttl))
    end
end

if not TIMEOUT or TIMEOUT <= 0 then
    return redis.error_reply('ERR a session timeout of ' .. tostring(ARGV[4]) .. ' ms')
end
local now = tick()
end_what_is_over(now)
