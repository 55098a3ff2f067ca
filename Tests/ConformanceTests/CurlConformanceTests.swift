import ErrandConformance
import ErrandTesting
import Testing

#if os(Linux)
import ErrandCurlTransport

@Suite("What a transport promises, kept by libcurl", .endsInTime, .leakChecked)
struct CurlConformanceTests {
    static let laws = LawOptions(rounds: LawBudget.rounds, budget: LawBudget.duration)

    @Test(
        "libcurl",
        arguments: TransportConformance.cases(for: { CurlTransport() }, laws: laws, within: LawBudget.duration)
            .filter { LawBudget.includes($0.name) })
    func kept(each: ConformanceCase) async throws { try await each.run() }

    @Test(
        "libcurl, for hosts with several addresses",
        arguments: TransportConformance.addressCases(
            for: { addresses in
                var configuration = CurlConfiguration()
                configuration.proxy = .off
                configuration.addresses = addresses
                return CurlTransport(configuration)
            }, within: .seconds(500)))
    func addresses(each: ConformanceCase) async throws { try await each.run() }

    @Test(
        "libcurl's connections for other protocols",
        arguments: ConnectionConformance.cases(for: { CurlTransport() }, within: .seconds(500)))
    func connections(each: PluginConformanceCase) async throws { try await each.run() }
}
#endif
