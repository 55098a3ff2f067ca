import Errand
import ErrandEssentials
import ErrandTesting

enum FramingCases {
    static let deliveries: [BodyDelivery] = [.data, .stream]

    static let all: [ConformanceDraft] = [
        ConformanceDraft(.framing, "a body ends at its Content-Length") { bench in
            for size in [0, 1, 2, 1_000, 65_536, 1 << 20] {
                let body = ConformanceBench.pattern(size)
                bench.server.on("/body", .data(body))
                for delivery in deliveries {
                    let received = try await bench.exchange(.get, "/body", delivery: delivery)
                    try bench.equal(received.status, 200, "the status")
                    try bench.equal(received.data, body, "the body, as \(delivery)")
                }
            }
        },
        ConformanceDraft(.framing, "the head of an error response reaches the agent's filters before the body") {
            bench in
            let body = ConformanceBench.pattern(200_000)
            for (status, delivery) in [(404, BodyDelivery.data), (500, .data), (503, .data), (503, .stream)] {
                let gate = Gate()
                let refusal = TestResponse.data(body).status(status)
                bench.server.on("/refused", refusal.waiting(for: gate, afterBodyBytes: 100))
                let opening = ClosureFilter { exchange, next in
                    let response = try await next(exchange)
                    gate.open()
                    return response
                }
                let received = try await bench.viaAgent(
                    bench.request(.get, "/refused"), delivery: delivery, filters: [opening], timeout: .seconds(20))
                try bench.equal(received.status, status, "the status")
                try bench.equal(received.data, body, "the body, as \(delivery)")
            }
        },
        ConformanceDraft(.framing, "the length of a response to HEAD doesn't matter, however large it is") { bench in
            for length in ["104857600", "1099511627776", "1125899906842624"] {
                bench.server.on("/film", .raw("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"))
                for delivery in deliveries {
                    let received = try await bench.exchange(.head, "/film", delivery: delivery)
                    try bench.equal(received.status, 200, "the status for \(length) bytes")
                    try bench.equal(received.headers[.contentLength], length, "Content-Length")
                    try bench.equal(received.data.count, 0, "the bytes of the body")
                }
            }
        },
        ConformanceDraft(.framing, "a body without a length ends when the connection closes") { bench in
            let body = ConformanceBench.pattern(100_000)
            bench.server.on("/body", .data(body).untilClose())
            for delivery in deliveries {
                try bench.equal(try await bench.exchange(.get, "/body", delivery: delivery).data, body, "the body")
            }
        },
        ConformanceDraft(.framing, "a chunked body is the same for every division into chunks") { bench in
            let body = Data("chunked.".utf8)
            for split in 0..<(1 << (body.count - 1)) {
                var sizes = [1]
                for bit in 0..<(body.count - 1) {
                    if split >> bit & 1 == 1 { sizes.append(1) } else { sizes[sizes.count - 1] += 1 }
                }
                bench.server.enqueue(TestResponse.data(body).chunked(sizes: sizes))
                try bench.equal(try await bench.exchange(.get, "/chunks").data, body, "the body in chunks of \(sizes)")
            }
        },
        ConformanceDraft(.framing, "a chunked body is the same, no matter how its bytes are split on the wire") {
            bench in
            let body = ConformanceBench.pattern(300)
            for bytes in [1, 2, 3, 7] {
                let slow = TestResponse.data(body).chunked(sizes: [1, 16, 255])
                bench.server.on("/slow", slow.slowly(bytesPerChunk: bytes, every: .zero, includingHead: true))
                for delivery in deliveries {
                    let came = try await bench.exchange(.get, "/slow", delivery: delivery).data
                    try bench.equal(came, body, "the body, \(bytes) bytes at a time")
                }
            }
        },
        ConformanceDraft(.framing, "chunk sizes are read in upper and lower case, and chunk extensions ignored") {
            bench in
            let text = "0a;name=value\r\n0123456789\r\n0A;flag\r\nabcdefghij\r\n0\r\n\r\n"
            bench.server.on(
                "/body", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\(text)"))
            try bench.equal(try await bench.exchange(.get, "/body").text, "0123456789abcdefghij", "the body")
        },
        ConformanceDraft(.framing, "a response to HEAD doesn't have a body, and the connection can be reused") {
            bench in
            bench.server.on("/body", .data(ConformanceBench.pattern(5_000)))
            for delivery in deliveries {
                let received = try await bench.exchange(.head, "/body", delivery: delivery)
                try bench.equal(received.data.count, 0, "the body of a response to HEAD")
                try bench.equal(received.headers[.contentLength], "5000", "Content-Length")
                try await bench.expectWorking(after: "HEAD")
            }
        },
        ConformanceDraft(.framing, "responses with 204 and 304 have no body, even with a Content-Length") { bench in
            for (status, length) in [(204, nil), (304, "5000"), (304, nil)] as [(Int, String?)] {
                var response = TestResponse.status(status, headers: [.entityTag: "\"v1\""])
                if let length { response = response.header(.contentLength, length) }
                bench.server.on("/empty", response)
                for delivery in deliveries {
                    let came = try await bench.exchange(.get, "/empty", delivery: delivery)
                    try bench.equal(came.status, status, "the status")
                    try bench.equal(came.data.count, 0, "bytes of the body of a \(status)")
                    try bench.equal(came.headers[.entityTag], "\"v1\"", "ETag")
                }
                try await bench.expectWorking(after: "a \(status)")
            }
        },
        ConformanceDraft(.framing, "responses have their bodies with every status") { bench in
            for status in [200, 201, 202, 203, 206, 226, 400, 403, 404, 409, 410, 418, 429, 500, 502, 503, 599] {
                bench.server.on("/status", .text("body of \(status)", status: status))
                let received = try await bench.exchange(.get, "/status")
                try bench.equal(received.status, status, "the status")
                try bench.equal(received.text, "body of \(status)", "the body")
            }
        },
        ConformanceDraft(.framing, "an HTTP/1.0 response is read until the connection closes") { bench in
            bench.server.on("/old", .raw("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold but good"))
            try bench.equal(try await bench.exchange(.get, "/old").text, "old but good", "the body")
            try await bench.expectWorking(after: "a response of HTTP/1.0")
        },
        ConformanceDraft(.framing, "an empty chunked body is returned as an empty body") { bench in
            bench.server.on("/empty", TestResponse.data(Data()).chunked())
            for delivery in deliveries {
                try bench.equal(try await bench.exchange(.get, "/empty", delivery: delivery).data.count, 0, "bytes")
            }
            try await bench.expectWorking(after: "an empty chunked body")
        },
    ]
}
