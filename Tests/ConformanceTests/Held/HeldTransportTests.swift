#if os(Linux) || os(Android)
import Errand
import ErrandConformance
import ErrandEssentials
import Testing

/// Transports that hold back bytes must fail soon, instead of making a case wait for its limit.
@Suite("Transports that hold back bytes or shorten timeouts are judged by the suite", .endsInTime)
struct HeldTransportTests {
    private static let refusals: [(String, AlteredTransport)] = [
        ("a reader that pauses makes the server pause, and other requests continue", .collectsStreams),
        ("a streamed body that is dropped or cancelled closes its connection", .collectsStreams),
        ("a streamed body that is cancelled closes its connection, even if the response is kept", .collectsAfterHead),
        ("each piece of a streamed body is sent before the source produces the next", .collectsUploads),
    ]

    @Test("a case refuses a transport that holds back bytes", arguments: refusals.indices)
    func refused(index: Int) async throws {
        let (name, wrong) = Self.refusals[index]
        let each = try #require(TransportConformance.cases(for: wrong.make, laws: .off).first { $0.name == name })
        let failure = await #expect(throws: ConformanceFailure.self, "\(wrong.testDescription)") {
            try await each.run()
        }
        #expect(failure?.expected.contains("before") == true, "\(failure?.description ?? "")")
    }

    @Test("no law and no case about timeouts refuses a transport with a timeout of a minute")
    func minute() async throws {
        let cases = TransportConformance.cases(
            for: AlteredTransport.minute.make,
            laws: LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration))
        for each in cases where each.feature == .laws || each.feature == .timeouts { try await each.run() }
    }

    @Test("a law refuses a transport that shortens a timeout because of the date", arguments: [false, true])
    func dates(isLimited: Bool) async throws {
        let exchanges = [WireExchange(), WireExchange(reply: WireReply(body: .bytes(100), fault: .stall(0)))]
        let right = isLimited ? AlteredTransport.minute : AlteredTransport.pacesByInstant
        try await TransportLaw.setback.check(right.make, exchanges[0], exchanges[1])
        await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.setback.check(AlteredTransport.timesOutByDate.make, exchanges[0], exchanges[1])
        }
    }
}

extension AlteredTransport {
    /// Returns a stream only when all of it has arrived.
    fileprivate static let collectsStreams = AlteredTransport("collects streams") { request, options, base in
        var response = try await base.send(request, options: options)
        if response.body.data == nil { response.body = HTTPBody(try await response.body.collect(upTo: 1 << 30)) }
        return response
    }

    /// Returns the head at once, and the body when all of it has arrived.
    fileprivate static let collectsAfterHead = AlteredTransport("collects bodies") { request, options, base in
        var response = try await base.send(request, options: options)
        guard response.body.data == nil else { return response }
        response.body = response.body.mapped(length: response.body.length) { iterator in
            var all = Data()
            while let chunk = try await iterator.next() { all += chunk }
            return all.isEmpty ? nil : all
        }
        return response
    }

    /// Reads a streamed request body before it sends the request.
    fileprivate static let collectsUploads = AlteredTransport("collects request bodies") { request, options, base in
        guard request.body.data == nil, !request.body.isNone else {
            return try await base.send(request, options: options)
        }
        var request = request
        let type = request.body.contentType
        request.body = .data(try await request.body.open().collect(upTo: 1 << 30), contentType: type)
        return try await base.send(request, options: options)
    }

    /// Limits the timeout, as many clients do.
    fileprivate static let minute = AlteredTransport("has a timeout of at most a minute") { request, options, base in
        var options = options
        options.timeout = min(options.timeout, .seconds(60))
        return try await base.send(request, options: options)
    }
}
#endif
