#if os(Linux)
import Errand
import ErrandAuthentication
import ErrandCache
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A body that a redirect or a filter discards after reading the response's head.
private enum Trouble: String, CaseIterable {
    case never, drips, endless, huge, cut, badlyCoded, compressed, lateEnd

    /// Sends a response with such a body. Returns true if the connection continues; otherwise waits until the client
    /// has disconnected, and returns false.
    func respond(_ head: String, _ peer: Peer) -> Bool {
        let chunked = "\(head)\r\nTransfer-Encoding: chunked\r\n"
        switch self {
        case .never: peer.send("\(head)\r\nContent-Length: 10\r\n\r\n")
        case .drips:
            peer.send("\(chunked)\r\n")
            while peer.send("1\r\nx\r\n") { usleep(20_000) }
        case .endless:
            peer.send("\(chunked)\r\n")
            let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
            while peer.send(chunk) {}
        case .huge: peer.send("\(head)\r\nContent-Length: 100000000000\r\n\r\nbeginning")
        case .cut:
            peer.send("\(head)\r\nContent-Length: 1000\r\n\r\nbeginning")
            return false
        case .badlyCoded:
            peer.send("\(head)\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nno gzip")
            return true
        case .compressed: peer.send("\(head)\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\nno gzip")
        case .lateEnd: peer.send("\(chunked)\r\n9\r\nbeginning\r\n")
        }
        _ = peer.drain()
        return false
    }
}

/// The body doesn't delay decisions that need only the response's head.
@Suite("The head of a response decides", .endsInTime, .leakChecked) struct HeadDecidesTests {
    /// Sends such a body to the requests for which the closure returns a head, and "there" to all others.
    private static func server(
        _ trouble: Trouble, _ head: @escaping @Sendable (_ request: String, _ number: Int) -> String?
    ) throws -> RawServer {
        let count = Atomic(0)
        return try RawServer { peer in
            while let request = peer.readHead() {
                let number = count.add(1, ordering: .relaxed).newValue
                if let head = head(request, number) {
                    if trouble.respond(head, peer) { continue }
                    return
                }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nthere")
            }
        }
    }

    @Test("a redirect is followed, regardless of its body", arguments: Trouble.allCases)
    fileprivate func redirects(trouble: Trouble) async throws {
        let server = try Self.server(trouble) { request, _ in
            request.hasPrefix("GET /there") ? nil : "HTTP/1.1 302 Found\r\nLocation: /there"
        }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
        #expect(try await agent.send(Call<String>(.get, "here")).value == "there")
        let streamed = Call<HTTPResponse>(.get, "here") { $0.delivery = .stream }
        #expect(try await agent.send(streamed).value.body.collect(upTo: 10) == Data("there".utf8))
    }

    @Test(
        "a redirect of any status and method is followed, regardless of its body",
        arguments: [301, 302, 303, 307, 308],
        [HTTPMethod.get, .post, .delete])
    func everyRedirect(status: Int, method: HTTPMethod) async throws {
        for trouble in [Trouble.drips, .huge, .cut, .badlyCoded] {
            let server = try Self.server(trouble) { request, _ in
                request.contains(" /there ") ? nil : "HTTP/1.1 \(status) Moved\r\nLocation: /there"
            }
            let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
            #expect(try await agent.send(Call<String>(method, "here")).value == "there", "\(trouble)")
        }
    }

    @Test("a refused credential is refreshed, regardless of the 401's body", arguments: Trouble.allCases)
    fileprivate func refreshes(trouble: Trouble) async throws {
        let server = try Self.server(trouble) { request, _ in
            request.contains("Bearer new") ? nil : "HTTP/1.1 401 Unauthorized"
        }
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken("new") }
        let agent = NetworkAgent(
            baseURL: server.url(""), transport: .system, filters: [.authentication(session)])
        #expect(try await agent.send(Call<String>(.get, "here")).value == "there")
    }

    @Test("a failure is repeated, regardless of its body", arguments: Trouble.allCases)
    fileprivate func retries(trouble: Trouble) async throws {
        let server = try Self.server(trouble) { _, number in number < 3 ? "HTTP/1.1 503 Sorry" : nil }
        let agent = NetworkAgent(
            baseURL: server.url(""), transport: .system, filters: [.retry(RetryPolicy(backoff: .none))])
        #expect(try await agent.send(Call<String>(.get, "here")).value == "there")
    }

    @Test("a stored response replaces a failure, regardless of the failure's body", arguments: Trouble.allCases)
    fileprivate func stale(trouble: Trouble) async throws {
        let stored = "Cache-Control: max-age=0, stale-if-error=600\r\nETag: \"a\"\r\nContent-Length: 6\r\n\r\nstored"
        let count = Atomic(0)
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                if count.add(1, ordering: .relaxed).newValue == 1 {
                    peer.send("HTTP/1.1 200 OK\r\n\(stored)")
                } else if !trouble.respond("HTTP/1.1 500 Oh", peer) {
                    return
                }
            }
        }
        let agent = NetworkAgent(
            baseURL: server.url(""), transport: .system, filters: [ResponseCache(.memory(), policy: .http)])
        for _ in 0..<2 { #expect(try await agent.send(Call<String>(.get, "here")).value == "stored") }
    }

    @Test("a rejected status is the error, with the part of its body that arrived", arguments: Trouble.allCases)
    fileprivate func refusals(trouble: Trouble) async throws {
        let server = try Self.server(trouble) { _, _ in "HTTP/1.1 404 Not Found" }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<String>(.get, "here") { $0.timeout = .seconds(1) })
        }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 404)
        let text = error.flatMap { $0.response?.data }.map { String(decoding: $0, as: UTF8.self) }
        if [.huge, .cut, .lateEnd].contains(trouble) { #expect(text == "beginning") }
        if trouble == .endless { #expect(text?.utf8.count == 64 << 10) }
    }

    @Test("a request that accepts the status gets the body or the body's error", arguments: [Trouble.cut, .badlyCoded])
    fileprivate func accepted(trouble: Trouble) async throws {
        let server = try Self.server(trouble) { _, _ in "HTTP/1.1 404 Not Found" }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system)
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<String>(.get, "here") { $0.acceptableStatuses = .any })
        }
        #expect(error?.code == (trouble == .cut ? .truncated : .invalidResponse))
        #expect(error?.response?.status == 404 && error?.request != nil)
    }

    @Test(
        "the connection of a discarded response is reused if its body is short",
        arguments: ["Content-Length: 4\r\n\r\nnone", "Transfer-Encoding: chunked\r\n\r\n4\r\nnone\r\n0\r\n\r\n"],
        [BodyDelivery.data, .stream])
    func reuse(body: String, delivery: BodyDelivery) async throws {
        // The client doesn't wait for a stream of unknown length.
        if delivery == .stream, body.contains("chunked") { return }
        let server = try RawServer { peer in
            while let request = peer.readHead() {
                if request.hasPrefix("GET /here") {
                    peer.send("HTTP/1.1 302 Found\r\nLocation: /there\r\n\(body)")
                } else if !request.contains("Bearer new") {
                    peer.send("HTTP/1.1 401 Unauthorized\r\n\(body)")
                } else {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nthere")
                }
            }
        }
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken("new") }
        // With a manual clock, the wait for the body can't time out on a loaded machine.
        let agent = NetworkAgent(
            baseURL: server.url(""), transport: .system, filters: [.authentication(session)],
            time: ManualTimeSource())
        let response = try await agent.send(Call<HTTPResponse>(.get, "here") { $0.delivery = delivery })
        #expect(try await response.value.body.collect(upTo: 10) == Data("there".utf8) && server.accepted == 1)
    }

    @Test("a filter sees the short body of a rejected response, and can request a longer body")
    func evidence() async throws {
        let server = try RawServer { peer in
            while let request = peer.readHead() {
                if request.hasPrefix("GET /short") {
                    peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 6\r\n\r\nlocked")
                } else {
                    let body = "locked" + String(repeating: " ", count: 100_000)
                    peer.send("HTTP/1.1 403 Forbidden\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                }
            }
        }
        let seen = Log<String>()
        let looking = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            seen.add("\(response.data.count)")
            try await exchange.gatherEvidence(of: response)
            seen.add("\(response.data.count)")
            return response
        }
        let agent = NetworkAgent(
            baseURL: server.url(""), transport: .system, filters: [looking], time: ManualTimeSource())
        for path in ["short", "long"] {
            let error = await #expect(throws: ErrandError.self) { try await agent.send(Call<String>(.get, path)) }
            #expect(error?.response?.data.prefix(6) == Data("locked".utf8))
        }
        #expect(seen.all == ["6", "6", "0", "\(64 << 10)"])
    }
}
#endif
