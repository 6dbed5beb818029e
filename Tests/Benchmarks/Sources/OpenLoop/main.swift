import Glibc

// Sends requests at a constant rate, and prints how long the responses took.
//
// Usage: `OpenLoop PORT REQUESTS RATE SECONDS CONNECTIONS`
//
// Each line of the file REQUESTS is TOKEN <tab> BODY, and they are sent in turn, spread over the connections. The time of a
// response starts when its request was due, also if all connections were busy then. A server that stops for a second therefore
// delays all requests of that second, as it would for real clients, who do not wait for each other.
//
// Prints one line of JSON: the requests, those with an error, and percentiles of the times in milliseconds.

func fail(_ message: String) -> Never {
    print("OpenLoop: \(message)")
    exit(1)
}

let arguments = CommandLine.arguments
guard arguments.count == 6, let port = UInt16(arguments[1]), let rate = Double(arguments[3]),
    let seconds = Double(arguments[4]), let connectionCount = Int(arguments[5]), rate > 0,
    (1...500).contains(connectionCount)
else { fail("usage: OpenLoop PORT REQUESTS RATE SECONDS CONNECTIONS") }
let requests = readRequests(arguments[2])
var load = Load(port: port, connections: connectionCount, requests: requests)
load.run(rate: rate, seconds: seconds)
print(load.summary)
