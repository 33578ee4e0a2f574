-- Keeps the session alive.
return heard(now) or { 'done' }
