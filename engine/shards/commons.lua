-- What the shards of a run hold in common: the limits of every account, and the money. One visit of one shard, atomic.
--
-- A visit brings what the shard has out at this moment (calls in flight, money spent and held) in absolute numbers, what
-- happened since its last one, and what it asks for. So a visit that was lost, or whose reply was, leaves nothing wrong
-- that the next one does not mend, and a Redis that forgot everything learns it again from the shards themselves.
--
-- KEYS[1]: the run's state, in MessagePack: shards by number, accounts by name.  ARGV[1]: the visit (commons.py).
-- `now` is defined by what stands before this text: Redis' own clock, in seconds, since hosts' clocks differ.

local visit = cmsgpack.unpack(ARGV[1])
local rules = visit.rules
local state = redis.call('GET', KEYS[1])
state = state and cmsgpack.unpack(state) or { shards = {}, accounts = {} }

local function alive(number)
  local shard = state.shards[number]
  return shard and shard.seen and shard.seen > now - rules.lease
end

-- Money, in whole billionths of a dollar. What a dead shard holds may have been spent: nothing but its journal can tell.

local function committed()
  local all, may_come_back, known = 0, 0, 0
  for number, shard in pairs(state.shards) do
    known = known + 1
    all = all + shard.spent + shard.held
    if alive(number) then may_come_back = may_come_back + shard.held end
  end
  return all, may_come_back, known == visit.shards
end

local function take_in(books)
  for _, book in ipairs(books) do
    if book.replace or not state.shards[book.shard] then
      state.shards[book.shard] = { spent = book.spent, held = 0 }
    end
  end
end

-- The limits of one account: as in limits/, whose constants the visit brings along.

local function flying(account)
  local sum = 0
  for number, calls in pairs(account.flight) do
    if alive(number) then sum = sum + calls end
  end
  return sum
end

-- How many calls a shard waits with; one that waits visits often, so what it wanted a while ago says nothing.
local function claims(account, number)
  return alive(number) and state.shards[number].seen > now - rules.claim and account.waits[number] or 0
end

-- A bound is shared out evenly among the shards that have calls in flight or wait with some; what one of them does not
-- need goes to the others. Else whoever visits most, since it has most in flight, would have the next place as well.
local function share(account)
  local needs, left = {}, account.bound
  for number, calls in pairs(account.flight) do
    if alive(number) then table.insert(needs, calls + claims(account, number)) end
  end
  table.sort(needs)
  for place, need in ipairs(needs) do
    local even = left / (#needs - place + 1)
    if need > even then return even end
    left = left - need
  end
  return account.bound
end

-- Where the bound cannot be divided, the last place goes to whoever was let go longest ago.
local function place_left(account, even)
  local own = account.flight[visit.shard]
  if flying(account) >= account.bound or own >= even then return false end
  if own + 1 <= even then return true end
  for number, calls in pairs(account.flight) do
    local earlier = (account.turns[number] or 0) < (account.turns[visit.shard] or 0)
    if number ~= visit.shard and earlier and calls < even and claims(account, number) > 0 then return false end
  end
  return true
end

local function account_of(name, given)
  local account = state.accounts[name]
  local told = cmsgpack.pack({ given.rpm or false, given.tpm or false, given.in_flight, given.adaptive })
  if not account or account.told ~= told then
    account = {
      told = told, rpm = given.rpm, stated = given.rpm, tpm = given.tpm, known = given,
      bound = given.adaptive and math.min(rules.start, given.in_flight) or given.in_flight,
      probing = true, successes = 0, changed = now, recovery = rules.recovery,
      paused = 0, returning = 0, back = 0, reason = '', due = 0, filled = now, flight = account and account.flight or {},
      waits = {}, turns = {}, turn = 0,
    }
    state.accounts[name] = account
  end
  return account
end

local function token_rate(account)
  return account.tpm * rules.token_headroom / 60
end

local function fill(account)
  local most = token_rate(account) * rules.burst_seconds
  account.level = math.min(most, (account.level or most) + (now - account.filled) * token_rate(account))
  account.filled = now
  return most
end

-- Requests are paced by the generic cell rate algorithm (ITU-T I.371): `due` is when the next one would be due if all
-- came evenly; it may come earlier by a slice, so that a few go together and a late one is made good.
local function pace(account)
  local interval = 60 / (account.rpm * rules.request_headroom)
  return interval, math.max(rules.slice - interval, rules.late)
end

local function wait(account, tokens, even)
  if not place_left(account, even) then return nil, 'calls in flight' end
  local longest, why = math.max(account.paused, account.back) - now, account.reason
  if account.rpm then
    local _, early = pace(account)
    if account.due - early - now > longest then longest, why = account.due - early - now, 'requests per minute' end
  end
  if account.tpm then
    local lacking = math.min(tokens, fill(account)) - account.level
    local seconds = lacking > 1e-6 and lacking / token_rate(account) or 0
    if seconds > longest then longest, why = seconds, 'tokens per minute' end
  end
  return longest > 1e-6 and longest or 0, why
end

-- Soon after a pause the next call goes a little later than this one: nobody comes back in step. Redis' own chance is
-- the same in every visit, so the visit brings some along.
local function take(account, tokens)
  account.flight[visit.shard] = account.flight[visit.shard] + 1
  account.turn = account.turn + 1
  account.turns[visit.shard] = account.turn
  if now - account.paused < account.returning then
    account.back = now + visit.chance * 2 * account.returning / account.bound
  end
  if account.rpm then account.due = math.max(account.due, now) + pace(account) end
  if account.tpm then fill(account); account.level = account.level - tokens end
end

local function set_requests(account, per_minute, why, changes)
  local old = account.rpm
  account.rpm, account.changed = math.max(1, per_minute), now
  if account.rpm ~= old then
    table.insert(changes, { limit = 'requests_per_minute', old = old, new = account.rpm, why = why })
  end
end

local function set_bound(account, bound, why, changes)
  table.insert(changes, { limit = 'in_flight', old = account.bound, new = bound, why = why })
  account.bound = bound
end

local function pause(account, seconds, reason)
  if now + seconds > account.paused then
    account.paused, account.reason = now + seconds, reason
    account.returning = math.min(rules.longest_return, seconds)
  end
end

local happened = {}

function happened.refunded(account, event)
  if account.tpm then
    local most = fill(account)
    account.level = math.min(most, account.level + event.amount)
  end
end

function happened.answered(account, event, changes)
  local given = account.known
  for _ = 1, given.adaptive and event.amount or 0 do
    account.successes = account.bound < given.in_flight and account.successes + 1 or 0
    if account.bound < given.in_flight and account.successes >= account.bound then
      account.successes = 0
      local grown = account.probing and account.bound * 2 or account.bound + 1
      set_bound(account, math.min(given.in_flight, grown), 'answers', changes)
    end
  end
  if account.rpm and account.rpm < account.stated and now - account.changed >= rules.recovery_seconds then
    set_requests(account, math.min(account.stated, account.rpm * (1 + account.recovery)), 'recovery', changes)
    account.recovery = math.min(account.recovery * 2, rules.boldest_recovery)
  end
end

function happened.pushed_back(account, event, changes)
  local fresh = account.paused <= now
  pause(account, event.amount, event.reason)
  if not fresh then return end
  table.insert(changes, { limit = 'pause', new = event.amount, why = event.why })
  account.probing, account.successes = false, 0
  if account.known.adaptive and account.bound > 1 then
    set_bound(account, math.max(1, math.floor(account.bound * rules.flight_decrease)), event.why, changes)
  end
  if account.rpm then
    account.recovery = rules.recovery
    local lowered = math.max(account.rpm * rules.rate_decrease, account.stated * rules.rate_floor)
    set_requests(account, math.min(account.rpm, lowered), event.why, changes)
  end
end

function happened.held(account, event)
  pause(account, event.amount, event.reason)
end

function happened.tokens(account, event)
  local most = math.min(event.amount, account.known.tpm or event.amount)
  if account.tpm and account.known.tpm and most >= account.tpm then return end
  if account.tpm then fill(account) end
  account.tpm = most
  fill(account)
end

function happened.requests(account, event, changes)
  account.stated = math.min(event.amount, account.known.rpm or event.amount)
  if not account.rpm then
    account.rpm = account.stated
    table.insert(changes, { limit = 'requests_per_minute', new = account.rpm, why = 'headers' })
  elseif account.stated < account.rpm then
    set_requests(account, account.stated, 'headers', changes)
  end
end

local function serve(wish, account)
  local changes = {}
  for _, event in ipairs(wish.events) do happened[event.kind](account, event, changes) end
  local reply = { granted = 0, bound = account.bound, changes = changes, why = '' }
  account.waits[visit.shard] = #wish.asks
  local even = share(account)
  for _, ask in ipairs(wish.asks) do
    local all, may_come_back, complete = committed()
    if visit.cap and not complete then
      reply.why = 'shards whose money is not known yet'
      break
    elseif visit.cap and all + ask.usd > visit.cap then
      reply.why = 'money in flight to come back'
      if may_come_back == 0 then reply.broke = true end
      break
    end
    local seconds, why = wait(account, ask.tokens, even)
    if seconds ~= 0 then
      reply.wait, reply.why = seconds, why
      break
    end
    take(account, ask.tokens)
    state.shards[visit.shard].held = state.shards[visit.shard].held + ask.usd
    reply.granted = reply.granted + 1
  end
  account.waits[visit.shard] = #wish.asks - reply.granted
  reply.per_minute = account.rpm
  return reply
end

-- One process works on a shard: `life` names it, and a visit of an earlier one, late on the wire, changes nothing.

local function welcome()
  local known = state.shards[visit.shard]
  local stranger = known and known.life and known.life ~= visit.life and not visit.claims
  local late = known and known.life == visit.life and known.visit >= visit.number
  if stranger or late then return false end
  state.shards[visit.shard] =
    { life = visit.life, visit = visit.number, seen = now, spent = visit.spent, held = visit.held }
  return true
end

take_in(visit.books)
local reply = { accounts = {} }
if visit.ends ~= '' then state.ends = visit.ends == 'yes' end
if visit.shard == '' then
  reply.heard = {}
  for number, shard in pairs(state.shards) do
    if shard.seen then table.insert(reply.heard, { number, now - shard.seen }) end
  end
else
  reply.fenced = not welcome()
  for _, wish in ipairs(reply.fenced and {} or visit.accounts) do
    account_of(wish.name, wish.given).flight[visit.shard] = wish.flight
  end
  for _, wish in ipairs(reply.fenced and {} or visit.accounts) do
    table.insert(reply.accounts, serve(wish, state.accounts[wish.name]))
  end
end
reply.ends = state.ends or false
reply.committed = committed()
redis.call('SET', KEYS[1], cmsgpack.pack(state), 'EX', rules.expiry)
return cmsgpack.pack(reply)
