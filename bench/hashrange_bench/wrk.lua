-- Sends the requests of a file one after the other, and starts over at its end.
-- Arguments: the file, and how many of its requests to leave out at first. Each request in it follows
-- its length in eight digits. Nothing is made here, so that the load generator stays ahead of the server.

local file

function init(arguments)
  file = assert(io.open(arguments[1], "rb"))
  for _ = 1, tonumber(arguments[2]) do
    file:seek("cur", tonumber(file:read(8)))
  end
end

function request()
  local length = file:read(8)
  if not length then
    file:seek("set", 0)
    length = file:read(8)
  end
  return file:read(tonumber(length))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    "RESULT requests=%d microseconds=%d refused=%d broken=%d p50=%d p99=%d\n",
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
