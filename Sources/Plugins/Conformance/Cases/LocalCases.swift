public import Errand
import ErrandEssentials
import ErrandTesting

extension TransportConformance {
    /// Returns the cases for a transport that itself responds to some URLs, for example with files of the app.
    ///
    /// ```swift
    /// TransportConformance.localCases(for: { MyTransport() }, at: "https://bundle.local/index.html")
    /// ```
    ///
    /// - Parameters:
    ///   - make: Creates a new transport.
    ///   - url: A URL to which the transport responds with status 200 and a body.
    ///   - limitations: The transport's known limitations. Cases that they excuse are skipped, but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    public static func localCases(
        for make: @escaping @Sendable () throws -> any Transport, at url: String,
        knownLimitations limitations: [KnownLimitation] = [], within limit: Duration = .seconds(600)
    ) -> [ConformanceCase] {
        let cases = LocalCases.all.map { draft in
            ConformanceCase(name: draft.name, feature: .local, limitation: nil, limit: limit) {
                try await draft.body(LocalBench(url: url, transport: make()))
            }
        }
        return excused(cases, limitations, limit)
    }
}

struct LocalBench: Sendable {
    let url: String
    let transport: any Transport

    struct Received: Equatable {
        var status: Int
        var headers: HTTPHeaders
        var body: Data
    }

    func exchange(
        _ method: HTTPMethod = .get, _ text: String? = nil, delivery: BodyDelivery = .data
    ) async throws -> Received {
        guard let target = URL(string: text ?? url) else {
            throw ConformanceFailure(expected: "a URL", came: text ?? url)
        }
        let options = TransportOptions(delivery: delivery)
        let response = try await transport.send(HTTPRequest(method, target), options: options)
        let body = try await response.body.collect(upTo: 1 << 26)
        return Received(status: response.status, headers: response.headers, body: body)
    }
}

/// Tests responses that a transport creates itself.
enum LocalCases {
    struct Draft: Sendable {
        let name: String
        let body: @Sendable (LocalBench) async throws -> Void
    }

    static let all: [Draft] = [
        Draft(name: "a response is the same each time and for each delivery, with the right length") { bench in
            let first = try await bench.exchange()
            if first.status != 200 || first.body.isEmpty {
                throw ConformanceFailure(
                    expected: "status 200 and a body", came: "\(first.status) and \(first.body.count) bytes")
            }
            for delivery in [BodyDelivery.stream, .data] {
                let next = try await bench.exchange(delivery: delivery)
                if next != first {
                    throw ConformanceFailure(
                        expected: "status \(first.status), \(first.body.count) bytes and the same fields",
                        came: "status \(next.status), \(next.body.count) bytes, delivered as \(delivery)")
                }
            }
            try expectLength(first)
        },
        Draft(name: "a response to HEAD has the fields of GET, and no body") { bench in
            let whole = try await bench.exchange()
            // The transport may respond only to GET. It may pass HEAD on to a server, which doesn't exist.
            guard let head = try? await bench.exchange(.head), head.status < 400 else { return }
            if head.status != whole.status || !head.body.isEmpty {
                throw ConformanceFailure(
                    expected: "status \(whole.status) without a body",
                    came: "status \(head.status) with \(head.body.count) bytes")
            }
            for name in [HTTPHeaderName.contentType, .contentLength, .entityTag] where head.headers.contains(name) {
                if head.headers[name] == whole.headers[name] { continue }
                throw ConformanceFailure(
                    expected: "\(name): \(whole.headers[name] ?? "none")", came: "\(head.headers[name] ?? "none")")
            }
        },
        Draft(name: "no path leads to a file outside of the files that the transport may return") { bench in
            let secret = "conformance-file-\(UInt64.random(in: 0 ... .max))"
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(secret)
            try Data(secret.utf8).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            for target in escapes(from: bench.url, to: file.resolvingSymlinksInPath().path) {
                guard let came = try? await bench.exchange(.get, target) else { continue }
                if !String(decoding: came.body, as: UTF8.self).contains(secret) { continue }
                throw ConformanceFailure(
                    expected: "an error or a refusal for \(target)",
                    came: "a file in another folder: resolve `..`, and compare the result with your folder")
            }
        },
    ]

    private static func expectLength(_ response: LocalBench.Received) throws {
        guard let text = response.headers[.contentLength], !response.headers.contains(.contentEncoding),
            Int(text) != response.body.count
        else { return }
        throw ConformanceFailure(
            expected: "the Content-Length of the body", came: "\(text), with \(response.body.count) bytes")
    }

    /// Returns URLs that lead to a file outside the transport's folder, if the transport decodes a path and appends it
    /// to the folder.
    private static func escapes(from url: String, to path: String) -> [String] {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let origin = parts.prefix(3).joined(separator: "/")
        let folder = url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
            .dropLast().joined(separator: "/")
        let names = path.split(separator: "/")
        let ups = ["..%2F", "%2e%2e%2f", "%2E%2E/", "..%5C", "../", "....//", ".%2e/"]
        var targets: [String] = []
        for (start, separator) in [(origin, "%2F"), (folder, "%2F"), (origin, "/")] {
            for up in ups {
                let climb = String(repeating: up, count: 24)
                targets.append("\(start)/\(climb)\(names.joined(separator: separator))")
            }
            targets.append("\(start)/%2F\(names.joined(separator: separator))")
            targets.append("\(start)//\(names.joined(separator: separator))")
        }
        return targets
    }
}
