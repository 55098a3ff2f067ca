public import Errand
import ErrandTesting

/// Test cases for a ``Transport``. You can run them with any test framework.
///
/// ```swift
/// @Test(arguments: TransportConformance.cases(for: { MyTransport() }))
/// func conformance(_ each: ConformanceCase) async throws { try await each.run() }
/// ```
///
/// Each case creates a transport, and starts its own server on the loopback interface. Cases can run in any order and
/// in parallel. If your transport has a limitation, excuse it by feature or by case name, with a reason:
///
/// ```swift
/// TransportConformance.cases(
///     for: { MyTransport() }, knownLimitations: [.feature(.trailers, because: "the client below drops them")])
/// ```
///
/// The server speaks HTTP/1.1. If your transport uses HTTP/2, also run
/// ``http2Cases(for:through:knownLimitations:within:)``.
///
/// The laws in this suite send random requests. They leave out whatever a limitation excuses. See ``TransportLaw``.
///
/// If your transport responds to requests itself, without a server, use
/// ``localCases(serving:laws:knownLimitations:within:)`` instead.
public enum TransportConformance {
    /// Returns the cases for the transports that `make` creates.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport. The transport must not have connections or share state with other transports.
    ///   - effects: What the transport does on purpose. Defaults to an empty list.
    ///   - samples: Requests and responses to which the transport reacts, such as a response that it decodes. Laws that
    ///     allow changed responses mix these samples into the exchanges that they create at random. Defaults to an
    ///     empty list.
    ///   - laws: How thoroughly to test each ``TransportLaw``. Defaults to a hundred rounds, and at most a minute for
    ///     all laws.
    ///   - limitations: The transport's known limitations. Cases that they excuse are skipped, but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    public static func cases(
        for make: @escaping @Sendable () throws -> any Transport, effects: [TransportEffect] = [],
        samples: [WireExchange] = [], laws: LawOptions = LawOptions(),
        knownLimitations limitations: [KnownLimitation] = [], within limit: Duration = .seconds(600)
    ) -> [ConformanceCase] {
        let drafts =
            FramingCases.all + HeaderCases.all + NeutralityCases.all + CodingCases.all + FaultCases.all
            + ReuseCases.all + UploadCases.all + CancellationCases.all + TimeoutCases.all + PressureCases.all
            + PreSendCases.all + EventCases.all
        let isOrdering = effects.contains(.ordersRequests)
        var cases = drafts.filter { !isOrdering || !$0.needsConcurrency }.map { draft in
            ConformanceCase(name: draft.name, feature: draft.feature, limitation: nil, limit: limit) {
                try await draft.body(ConformanceBench(make))
            }
        }
        if laws.rounds > 0 {
            let bench = WireBench(make: make, effects: effects, samples: samples, limitations: limitations)
            cases += Self.cases(of: bench, laws, limit)
            if effects.contains(.continuesBodies) { cases.append(continuingCase(bench, limit)) }
        }
        if isOrdering { cases.append(orderingCase(make, limit)) }
        return excused(cases, limitations, limit)
    }

    /// Returns the laws for a transport that reaches the server through a relay, for example a relay that adds TLS. A
    /// law is a property of transports that is tested with random requests. See ``TransportLaw``.
    ///
    /// ```swift
    /// TransportConformance.laws(for: { MyTransport() }, through: { port in try MyRelay(to: port) })
    /// ```
    ///
    /// A transport that passes the other cases can still fail with TLS, because TLS can change when a client reads, how
    /// it finds the end of a body, and how it closes a connection.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport that trusts the relay.
    ///   - relay: Creates a relay to the server at this port of 127.0.0.1.
    ///   - effects: What the transport does on purpose. Defaults to an empty list.
    ///   - laws: How thoroughly to test each ``TransportLaw``. Defaults to a hundred rounds, and at most a minute for
    ///     all laws.
    ///   - limitations: The transport's known limitations. Cases that they excuse are skipped, but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    public static func laws(
        for make: @escaping @Sendable () throws -> any Transport,
        through relay: @escaping @Sendable (_ port: Int) throws -> any WireRelay, effects: [TransportEffect] = [],
        laws: LawOptions = LawOptions(), knownLimitations limitations: [KnownLimitation] = [],
        within limit: Duration = .seconds(600)
    ) -> [ConformanceCase] {
        var bench = WireBench(make: make, effects: effects, limitations: limitations)
        bench.relay = relay
        return excused(cases(of: bench, laws, limit), limitations, limit)
    }

    private static func cases(of bench: WireBench, _ options: LawOptions, _ limit: Duration) -> [ConformanceCase] {
        let further: [TransportLaw] = bench.effects.contains(.continuesBodies) ? [.continuation] : []
        let isOrdering = bench.effects.contains(.ordersRequests)
        let laws = TransportLaw.all.filter { !isOrdering || $0.identifier != TransportLaw.concurrency.identifier }
        return (laws + further).map { law in
            ConformanceCase(name: law.name, feature: .laws, limitation: nil, limit: limit) {
                try await law.search(bench, options)
            }
        }
    }

    private static func continuingCase(_ bench: WireBench, _ limit: Duration) -> ConformanceCase {
        ConformanceCase(
            name: "a transport that declares continuesBodies continues a body", feature: .laws, limitation: nil,
            limit: limit
        ) {
            for isStreamed in [true, false] {
                for framing in [WireReply.Framing.length, .chunked([100])] {
                    let reply = WireReply(
                        headers: [.entityTag: "\"law\"", .acceptRanges: "bytes"], body: .bytes(5_000), framing: framing,
                        fault: .close(3_000))
                    let exchange = WireExchange(isStreamed: isStreamed, reply: reply, furtherReplies: [.part])
                    if try await bench.run().play(exchange).arrivals > 1 { return }
                }
            }
            throw ConformanceFailure(
                expected: "a request for the rest of a body that breaks off, because of continuesBodies",
                came: "no further request: remove the effect, which hides mistakes")
        }
    }

    private static func orderingCase(
        _ make: @escaping @Sendable () throws -> any Transport, _ limit: Duration
    ) -> ConformanceCase {
        ConformanceCase(
            name: "a transport that declares ordersRequests holds requests back", feature: .load, limitation: nil,
            limit: limit
        ) {
            let (bench, gate) = (try ConformanceBench(make), Gate())
            bench.server.on("/slow", TestResponse.text("slow").waiting(for: gate))
            async let slow = bench.exchange(.get, "/slow")
            try await gate.reached()
            async let other = bench.exchange(.get, "/ok")
            let isSent = try await poll(300) { bench.server.requestCount > 1 }
            gate.open()
            _ = try await (slow, other)
            if !isSent { return }
            throw ConformanceFailure(
                expected: "a request that waits for the response to an earlier one, because of ordersRequests",
                came: "two requests at the same time: remove the effect, which hides mistakes")
        }
    }

    static func excused(
        _ cases: [ConformanceCase], _ limitations: [KnownLimitation], _ limit: Duration
    ) -> [ConformanceCase] {
        var cases = cases
        for index in cases.indices {
            guard let limitation = limitations.first(where: { $0.covers(cases[index]) }) else { continue }
            let each = cases[index]
            cases[index] = ConformanceCase(
                name: each.name, feature: each.feature, limitation: limitation.reason, limit: limit, body: each.body)
        }
        for limitation in limitations {
            guard let name = limitation.name, !cases.contains(where: { $0.name == name }) else { continue }
            cases.append(
                ConformanceCase(
                    name: "the limitation \"\(name)\" belongs to a case", feature: .framing, limitation: nil,
                    limit: limit
                ) {
                    throw ConformanceFailure(
                        expected: "a case with that name", came: "no such case: remove or correct the limitation")
                })
        }
        return cases
    }
}

struct ConformanceDraft: Sendable {
    let feature: TransportFeature
    let name: String
    /// Whether several requests to a host must run at the same time.
    let needsConcurrency: Bool
    let body: @Sendable (ConformanceBench) async throws -> Void

    init(
        _ feature: TransportFeature, _ name: String, needsConcurrency: Bool = false,
        _ body: @escaping @Sendable (ConformanceBench) async throws -> Void
    ) {
        (self.feature, self.name, self.needsConcurrency, self.body) = (feature, name, needsConcurrency, body)
    }
}

/// A feature of transports. The cases of ``TransportConformance`` are grouped by feature. Features may be added, so
/// write a `default` in a `switch`.
public enum TransportFeature: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// How the end of a response is found: lengths, chunks, HEAD, 204, and 304.
    case framing
    /// Header fields, methods, and targets.
    case headers
    /// Redirects, challenges, and cookies. Transports must return such responses unchanged.
    case neutrality
    /// 1xx responses before the final response.
    case informational
    /// Trailer fields after a chunked body.
    case trailers
    /// The content codings gzip and deflate.
    case codings
    /// Range requests and partial responses (206).
    case ranges
    /// Connections that end too early, and responses that are invalid.
    case faults
    /// Using a connection for several requests.
    case reuse
    /// Request bodies in memory.
    case uploads
    /// Streamed request bodies.
    case streamedUploads
    /// Cancelling a request in each of its stages.
    case cancellation
    /// Timeouts of requests whose server is silent.
    case timeouts
    /// Slowing down the server if the response's reader is slow.
    case backpressure
    /// Slowing down the source of a request's body if the server is slow.
    case uploadBackpressure
    /// Many concurrent requests.
    case load
    /// The last check of a request before it's sent, if it has waited for a connection. See ``Errand/PreSendFilter``.
    case preSendCheck
    /// The events that a transport reports to accessories.
    case events
    /// Hosts with several addresses.
    case addresses
    /// Closing connections when the transport is deallocated.
    case lifetime
    /// HTTP/2. See ``TransportConformance/http2Cases(for:through:knownLimitations:within:)``.
    case http2
    /// The laws of transports: properties that are tested with random requests. See ``TransportLaw``.
    case laws
    /// Responses that the transport creates itself. See
    /// ``TransportConformance/localCases(serving:laws:knownLimitations:within:)``.
    case local

    /// The feature's name.
    public var description: String { rawValue }
}
