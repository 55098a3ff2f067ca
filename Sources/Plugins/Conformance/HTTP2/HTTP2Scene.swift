import Errand
import ErrandEssentials
import ErrandTesting

/// A transport and its HTTP/2 server.
struct HTTP2Scene: Sendable {
    let bench: ConformanceBench
    let peer: HTTP2Peer
    private let origin: WireOrigin

    typealias Make = @Sendable () throws -> any Transport

    /// Plays a case. Then checks that the client has kept the rules of HTTP/2.
    static func play(
        _ make: @escaping Make, _ relay: WireBench.Relay?, _ draft: HTTP2Cases.Draft
    ) async throws {
        let peer = try HTTP2Peer(draft.settings, draft.react)
        let scene = HTTP2Scene(
            bench: try ConformanceBench(make), peer: peer, origin: try WireOrigin(peer.server, relay))
        // Many mistakes make a request wait forever.
        try await withLimit(.seconds(40)) { try await draft.body(scene) }
        if let fault = peer.state.read({ $0.faults.first }) {
            let parts = fault.split(separator: ", got ", maxSplits: 1)
            throw ConformanceFailure(
                expected: String(parts[0].replacing("expected ", with: "")),
                came: parts.count > 1 ? String(parts[1]) : "another")
        }
    }

    var authority: String { String(origin.url.drop { $0 != "/" }.dropFirst(2)) }

    func request(
        _ method: HTTPMethod = .get, _ target: String, headers: HTTPHeaders = [:], body: RequestBody = .none
    ) throws -> HTTPRequest {
        guard let url = URL(string: origin.url + target) else {
            throw ConformanceFailure(expected: "a URL", came: origin.url + target)
        }
        return HTTPRequest(method, url, headers: headers, body: body)
    }

    func send(_ request: HTTPRequest, options: TransportOptions = TransportOptions()) async throws -> HTTPResponse {
        try await bench.transport.send(request, options: options)
    }

    func stream(_ target: String) async throws -> HTTPResponse {
        let request = try request(.get, target)
        return try await promptHead(of: target) {
            try await send(request, options: TransportOptions(delivery: .stream))
        }
    }

    func exchange(
        _ method: HTTPMethod = .get, _ target: String, headers: HTTPHeaders = [:], body: RequestBody = .none,
        delivery: BodyDelivery = .data
    ) async throws -> ConformanceBench.Received {
        let request = try request(method, target, headers: headers, body: body)
        let response = try await send(request, options: TransportOptions(delivery: delivery))
        let data = try await response.body.collect(upTo: 1 << 30)
        return ConformanceBench.Received(status: response.status, headers: response.headers, data: data)
    }

    func expectWorking(after what: String) async throws {
        try bench.equal(try await exchange(.get, "/ok").text, "ok", "the response to the request after \(what)")
    }

    /// Waits until the server has received requests with a path.
    func arrival(of path: String, count: Int = 1) async throws {
        _ = try await peer.state.wait(for: "\(path)", within: .seconds(20)) { state in
            state.requests.count { $0.path == path } >= count ? true : nil
        }
    }
}
