import ErrandConformance
import ErrandTesting
import ErrandURLSessionTransport
import Testing

@Suite("What a transport promises, kept by URLSession", .endsInTime, .leakChecked)
struct URLSessionConformanceTests {
    #if canImport(FoundationNetworking)
    static let limitations: [KnownLimitation] = [
        .feature(.preSendCheck, because: "URLSession does not show when a wait for a connection is over"),
        .feature(.trailers, because: "trailers end the process on Linux (a defect of FoundationNetworking)"),
        .feature(.backpressure, because: "a suspended task starts over on Linux, so nothing holds back the server"),
        .feature(
            .uploadBackpressure,
            because: "URLSession reads streams on the one queue of the process, so they are read whole beforehand"),
        .named(
            "a connection that closes at any byte of the head is an error",
            because: "a head that is cut off ends the process on Linux (a defect of FoundationNetworking)"),
        .named(
            "a truncated compressed body is an error, or is returned undecoded",
            because: "URLSession hands over what it could decode on Linux, without an error"),
        .named(
            "malformed chunks are invalidResponse, not connectionLost",
            because: "URLSession reports both alike on Linux, and trailers end the process"),
        .named(
            "a transfer coding other than chunked is invalidResponse",
            because: "URLSession takes it for chunks on Linux"),
        .named(
            "a header field that starts with a carriage return is invalidResponse",
            because: "URLSession takes it for the end of the head on Linux"),
        .named(
            "a field value that isn't UTF-8 is read as Latin-1",
            because: "such a field ends the transfer on Linux (a defect of FoundationNetworking)"),
        .named(
            "the head of a redirect is returned before its body arrives",
            because: "URLSession reports a redirect on Linux once its body has arrived"),
        .named(
            "a redirect with a missing or empty Location keeps its body",
            because: "URLSession drops the body of such a redirect on Linux"),
        .named(
            "a request that isn't idempotent is sent once, even if a reused connection closes",
            because: "the libcurl of FoundationNetworking sends it again"),
        .named(
            "an IPv6 address is a host like any other, with brackets in Host",
            because: "FoundationNetworking rejects a URL with an IPv6 address"),
        .named(
            "a Content-Length that isn't a single number is invalidResponse and ends the connection",
            because: "the response is refused, but URLSession reads `+2` as 2 on Linux and keeps the connection"),
    ]
    #else
    static let limitations: [KnownLimitation] = [
        .feature(.preSendCheck, because: "URLSession does not show when a wait for a connection is over"),
        .feature(.trailers, because: "URLSession does not deliver trailers"),
    ]
    #endif

    @Test(
        "URLSession",
        arguments: TransportConformance.cases(
            for: { URLSessionTransport() },
            laws: LawOptions(rounds: LawBudget.rounds, budget: LawBudget.duration),
            knownLimitations: limitations, within: LawBudget.duration
        ).filter { LawBudget.includes($0.name) })
    func kept(each: ConformanceCase) async throws {
        if let limitation = each.limitation { try Test.cancel("\(each.name) is excused: \(limitation)") }
        try await each.run()
    }

    #if canImport(Network)
    @Test(
        "the connections of URLSession's transport for other protocols",
        arguments: ConnectionConformance.cases(for: { URLSessionTransport() }, within: .seconds(500)))
    func connections(each: PluginConformanceCase) async throws { try await each.run() }
    #endif
}
