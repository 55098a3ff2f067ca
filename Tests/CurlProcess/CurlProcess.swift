import Errand
import ErrandCurlTransport
import ErrandTesting

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// Runs the tests of the libcurl transport that need a separate process. Exits with 0 on success.
///
/// `end URL ROOTS HEADS MICROSECONDS` starts 32 concurrent downloads over TLS. Once HEADS responses have begun, it
/// waits MICROSECONDS and exits, whatever still runs. `lookups URL BOUND` and `retired` are described at ``Lookups``.
@main
struct CurlProcess {
    static func main() async { exit(await run(CommandLine.arguments)) }

    @concurrent static func run(_ arguments: [String]) async -> Int32 {
        #if os(Linux)
        do {
            switch (arguments.dropFirst().first, arguments.count) {
            case ("end", 6): return try await end(Array(arguments[2...]))
            case ("lookups", 4): try await Lookups.cancelMany(arguments[2], bound: Int(arguments[3]) ?? 0)
            case ("retired", 2): try await Lookups.retire()
            default: return 2
            }
            return 0
        } catch let fault as Lookups.Fault { return fault.line } catch { return 1 }
        #else
        return 2
        #endif
    }

    #if os(Linux)
    private static func end(_ arguments: [String]) async throws -> Int32 {
        guard let url = URL(string: arguments[0]), let wanted = Int(arguments[2]), let pause = Int(arguments[3])
        else { return 2 }
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: arguments[1]))
        let transport = CurlTransport(configuration)
        // Without a content coding the server spends its time on TLS, like this process.
        let request = HTTPRequest(.get, url, headers: ["Accept-Encoding": "identity"])
        let (heads, received) = AsyncStream<Bool>.makeStream()
        for _ in 0..<32 {
            Task {
                do {
                    let response = try await transport.send(request, options: TransportOptions(delivery: .stream))
                    received.yield(true)
                    for try await _ in response.body {}
                } catch {
                    received.yield(false)
                }
            }
        }
        var count = 0
        if wanted > 0 {
            for await isResponse in heads {
                guard isResponse else { return 3 }
                count += 1
                if count == wanted { break }
            }
        }
        try await Task.sleep(for: .microseconds(pause))
        return 0
    }
    #endif
}
