#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Creates the transport from the command line's options.
enum ToolTransport {
    /// Call it before anything else runs, because it may change the environment.
    static func make(_ arguments: DownloadArguments) throws(DownloadArguments.Mistake) -> any Transport {
        var configuration = CurlConfiguration()
        if let family = arguments.family { configuration.addressFamily = family == 4 ? .v4 : .v6 }
        if let proxy = arguments.proxy {
            configuration.proxy = .url(proxy, except: arguments.noProxy)
        } else if arguments.noProxy.contains("*") {
            configuration.proxy = .off
        } else if !arguments.noProxy.isEmpty {
            setenv("no_proxy", arguments.noProxy.joined(separator: ","), 1)
        }
        if let file = arguments.caFile {
            let name = TextLayout.printable(file)
            let bytes = try InputFile.read(file, limit: 64 << 20, for: name)
            guard String(decoding: bytes, as: UTF8.self).contains("-----BEGIN") else {
                throw .init(message: "\(name) has no certificate in PEM format")
            }
            configuration.tls.roots = .file(URL(filePath: file))
        }
        return LoadingTransport(configuration)
    }
}

/// Loads libcurl while the program prepares its first request. Loading takes a third of the time of a small download.
private struct LoadingTransport: Transport {
    private let transport: Task<CurlTransport, Never>

    init(_ configuration: CurlConfiguration) { transport = Task.detached { CurlTransport(configuration) } }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        try await transport.value.send(request, options: options)
    }
}
#endif
