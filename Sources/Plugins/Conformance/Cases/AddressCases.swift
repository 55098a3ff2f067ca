public import Errand
import ErrandEssentials
import ErrandTesting

/// Tests requests to a host that has several addresses, of which only some accept connections (RFC 8305, section 5).
enum AddressCases {
    typealias Make = @Sendable ([String: [String]]) throws -> any Transport

    struct Draft: Sendable {
        let name: String
        let body: @Sendable (TestServer, Make) async throws -> Void
    }

    static let all: [Draft] = [
        Draft(name: "if two addresses refuse the connection, the next one is used") { server, make in
            try await reach(server, make, before: ["127.0.0.71", "127.0.0.72"])
        },
        Draft(name: "concurrent requests all get past addresses that refuse the connection") { server, make in
            try await reach(server, make, before: ["127.0.0.71", "127.0.0.72", "127.0.0.73"], requests: 40)
        },
        Draft(name: "if an address doesn't respond, the next one is used") { server, make in
            try await reach(server, make, before: [.silent(2)])
        },
        Draft(name: "if several addresses fail in different ways, the next one is used") {
            server, make in
            try await reach(server, make, before: [.silent(2), "127.0.0.71", .silent(3)])
        },
        Draft(name: "the request's timeout leaves enough time to try the next address") { server, make in
            try await reach(server, make, before: [.silent(2)], timeout: .seconds(6))
        },
        Draft(name: "if no address works, the request fails with cannotConnect") { server, make in
            let transport = try make([host: ["127.0.0.71", "127.0.0.72", "127.0.0.73"]])
            let request = try request(to: server)
            do { _ = try await transport.send(request, options: TransportOptions(timeout: .seconds(30))) } catch {
                let code = (error as? ErrandError)?.code
                if code != .cannotConnect {
                    throw ConformanceFailure(expected: "\(ErrandError.Code.cannotConnect)", came: "\(error)")
                }
                return
            }
            throw ConformanceFailure(expected: "an error", came: "a response")
        },
    ]

    private static let host = "several.test"

    private enum Address: ExpressibleByStringLiteral {
        case refusing(String)
        case silent(UInt8)
        init(stringLiteral value: String) { self = .refusing(value) }
    }

    private static func request(to server: TestServer) throws -> HTTPRequest {
        guard let url = URL(string: "http://\(host):\(server.port)/ok") else {
            throw ConformanceFailure(expected: "a URL", came: "none")
        }
        return HTTPRequest(.get, url)
    }

    private static func reach(
        _ server: TestServer, _ make: Make, before addresses: [Address], requests: Int = 1,
        timeout: Duration = .seconds(14)
    ) async throws {
        var silent: [SilentAddress] = []
        var texts: [String] = []
        for address in addresses {
            switch address {
            case .refusing(let text): texts.append(text)
            case .silent(let number):
                guard let one = SilentAddress(number, port: server.port) else {
                    throw ConformanceFailure(expected: "an address that doesn't respond", came: "none on this system")
                }
                silent.append(one)
                texts.append(one.address)
            }
        }
        let transport = try make([host: texts + ["127.0.0.1"]])
        let request = try request(to: server)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<requests {
                group.addTask {
                    try await transport.send(request, options: TransportOptions(timeout: timeout)).status
                }
            }
            for try await status in group where status != 200 {
                throw ConformanceFailure(expected: "status 200", came: "\(status)")
            }
        }
        withExtendedLifetime(silent) {}
    }
}

extension TransportConformance {
    /// Returns the cases for transports whose host addresses can be configured.
    ///
    /// ```swift
    /// let cases = TransportConformance.addressCases { addresses in
    ///     var configuration = CurlConfiguration()
    ///     configuration.addresses = addresses
    ///     return CurlTransport(configuration)
    /// }
    /// for each in cases { try await each.run() }
    /// ```
    ///
    /// The cases use 127.0.0.2 and further addresses, which Linux has by default.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport. It must connect to these addresses without a lookup. The keys are host names.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    public static func addressCases(
        for make: @escaping @Sendable (_ addresses: [String: [String]]) throws -> any Transport,
        within limit: Duration = .seconds(600)
    ) -> [ConformanceCase] {
        AddressCases.all.map { draft in
            ConformanceCase(name: draft.name, feature: .addresses, limitation: nil, limit: limit) {
                let server = try TestServer()
                server.on("/ok", .text("ok"))
                try await draft.body(server, make)
            }
        }
    }
}
