#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite(
    "The end of a program over libcurl", .endsInTime, .serialized,
    .enabled(if: Nginx.isInstalled, "nginx or openssl is not installed"), .leakChecked)
struct ExitTests {
    /// The number of processes that exit. Set `ERRAND_EXITS` in the environment to change it.
    private static let exits = getenv("ERRAND_EXITS").flatMap { Int(String(cString: $0)) } ?? 32

    @Test("a program that ends while TLS requests are running exits normally")
    func whileRunning() async throws {
        let nginx = try await Nginx.site([("good", " ssl;")])
        let program = try Program(built: "errand-curl-process")
        var ends: [Program.Output] = []
        for _ in 0..<Self.exits {
            let arguments = [
                "end", nginx.url("good", "/48m"), nginx.file("root.pem"), "\(Int.random(in: 0...32))",
                "\(Int.random(in: 0...20_000))",
            ]
            ends.append(try await program.run(arguments))
        }
        let unclean = ends.filter { $0.wasKilled || $0.status != 0 }
        #expect(unclean.isEmpty, "\(unclean.count) of \(ends.count): \(unclean.first.map(\.description) ?? "")")
    }
}
#endif
