-- Sends the requests of the file REQUESTS in turn. Each line of the file is TOKEN <tab> BODY. Prints a line of JSON at the end.
local requests, count, position = {}, 0, 0

function init()
    for line in io.lines(os.getenv("REQUESTS")) do
        local token, body = line:match("^([^\t]*)\t(.*)$")
        count = count + 1
        requests[count] = wrk.format("POST", nil, {
            ["Content-Type"] = "application/json",
            ["Accept"] = "application/json",
            ["Authorization"] = "Bearer " .. token,
        }, body)
    end
end

function request()
    position = position % count + 1
    return requests[position]
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '\nJSON {"requests": %d, "seconds": %f, "bytes": %d, "p50": %f, "p99": %f, "failed": %d}\n',
        summary.requests, summary.duration / 1e6, summary.bytes,
        latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
        errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
