public import Errand
import ErrandEssentials
import ErrandTesting

extension TransportConformance {
    /// Returns the cases for a transport that itself responds to some URLs, for example with files of the app. If you
    /// can choose what the transport responds to, use ``localCases(serving:laws:knownLimitations:within:)``, which
    /// tests more.
    ///
    /// ```swift
    /// TransportConformance.localCases(for: { MyTransport() }, at: "https://bundle.local/index.html")
    /// ```
    ///
    /// - Parameters:
    ///   - make: Creates a new transport.
    ///   - url: A URL to which the transport responds with status 200 and a body.
    ///   - laws: How many random series of requests the laws send. Defaults to a quarter of a hundred rounds.
    ///   - limitations: The transport's known limitations. Cases that they excuse are skipped, but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    public static func localCases(
        for make: @escaping @Sendable () throws -> any Transport, at url: String, laws: LawOptions = LawOptions(),
        knownLimitations limitations: [KnownLimitation] = [], within limit: Duration = .seconds(600)
    ) -> [ConformanceCase] {
        excused(drafts(LocalBench(url: url, laws: laws, make: make), limit), limitations, limit)
    }

    /// Returns the cases for a transport that itself responds with resources that the suite chooses: GET returns the
    /// resource's body with its media type, and a request for another URL is an error or a status of 400 or more.
    ///
    /// ```swift
    /// TransportConformance.localCases(serving: { resources in
    ///     MyTransport(responses: resources.map { ($0.url, $0.contentType, $0.body) })
    /// })
    /// ```
    ///
    /// These cases include ``localCases(for:at:laws:knownLimitations:within:)``. If your transport can't keep some
    /// resources apart on purpose, for example because its files have no queries, excuse the case by its name.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport with these resources. A resource with a query, at another host, or whose name
    ///     can't be the name of a file everywhere may be left out. A request for it must then not return another one.
    ///   - laws: How many random series of requests the laws send. Defaults to a quarter of a hundred rounds.
    ///   - limitations: The transport's known limitations. Cases that they excuse are skipped, but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    public static func localCases(
        serving make: @escaping @Sendable ([LocalResource]) throws -> any Transport, laws: LawOptions = LawOptions(),
        knownLimitations limitations: [KnownLimitation] = [], within limit: Duration = .seconds(600)
    ) -> [ConformanceCase] {
        var bench = LocalBench(url: LocalResource.plain[0].url, laws: laws) { try make(LocalResource.plain) }
        bench.urls = LocalResource.plain.map(\.url)
        return excused(drafts(bench, limit, LocalCases.serving(make)), limitations, limit)
    }

    private static func drafts(
        _ bench: LocalBench, _ limit: Duration, _ served: [LocalCases.Draft] = []
    ) -> [ConformanceCase] {
        let laws = bench.laws.rounds > 0 ? LocalCases.laws : []
        return (LocalCases.all + LocalCases.further + laws + served).map { draft in
            ConformanceCase(name: draft.name, feature: .local, limitation: nil, limit: limit) {
                try await draft.body(bench)
            }
        }
    }
}

struct LocalBench: Sendable {
    let url: String
    /// All URLs to which the transport responds.
    var urls: [String]
    let laws: LawOptions
    let make: @Sendable () throws -> any Transport

    init(url: String, laws: LawOptions = LawOptions(), make: @escaping @Sendable () throws -> any Transport) {
        (self.url, urls, self.laws, self.make) = (url, [url], laws, make)
    }

    struct Received: Sendable, Equatable {
        var status: Int
        var headers: HTTPHeaders
        var body: Data
    }

    func exchange(
        _ method: HTTPMethod = .get, _ text: String? = nil, delivery: BodyDelivery = .data,
        on transport: any Transport
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
            let transport = try bench.make()
            let first = try await bench.exchange(on: transport)
            if first.status != 200 || first.body.isEmpty {
                throw ConformanceFailure(
                    expected: "status 200 and a body", came: "\(first.status) and \(first.body.count) bytes")
            }
            for delivery in [BodyDelivery.stream, .data] {
                let next = try await bench.exchange(delivery: delivery, on: transport)
                if !next.isSame(as: first, ofOneTransport: true) {
                    throw ConformanceFailure(
                        expected: "status \(first.status), \(first.body.count) bytes and the same fields, such as ETag",
                        came: "status \(next.status), \(next.body.count) bytes, delivered as \(delivery)")
                }
            }
            try expectLength(first)
        },
        Draft(name: "a response to HEAD has the fields of GET, and no body") { bench in
            let transport = try bench.make()
            let whole = try await bench.exchange(on: transport)
            // The transport may respond only to GET. It may pass HEAD on to a server, which doesn't exist.
            guard let head = try? await bench.exchange(.head, on: transport), head.status < 400 else { return }
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
            let transport = try bench.make()
            for target in escapes(from: bench.url, to: file.resolvingSymlinksInPath().path) {
                guard let came = try? await bench.exchange(.get, target, on: transport) else { continue }
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
