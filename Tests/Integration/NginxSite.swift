#if os(Linux) || os(macOS)
import ErrandTestSupport
import Foundation

/// An nginx with this suite's files, locations and faults, over HTTP and over TLS with HTTP/2.
extension Nginx {
    static let film = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })
    static let text = String(repeating: "Mary had a little lamb, its fleece was white as snow.\n", count: 200)

    private static let locations = """
        gzip_min_length 100;
        location = /moved { return 302 /text.txt; }
        location = /empty { return 204; }
        location = /echo { return 200 "$request_method $http_x_probe $connection"; }
        location = /private/text.txt { auth_basic "here"; auth_basic_user_file users; alias www/text.txt; }
        location /limited/ { keepalive_requests 3; alias www/; }
        location /slow/ { limit_rate 4m; limit_rate_after 200k; alias www/; }
        location /old/ { etag off; alias www/; limit_rate 4m; limit_rate_after 200k; }
        location /none/ { max_ranges 0; alias www/; limit_rate 4m; limit_rate_after 200k; }
        """

    convenience init() async throws {
        let hasIPv6 = FileManager.default.fileExists(atPath: "/proc/net/if_inet6")
        let tls = " ssl http2; \(hasIPv6 ? "listen [::1]:{port} ssl http2;" : "")"
        try await self.init(
            [
                ("plain", "; \(Self.locations)"),
                ("tls", "\(tls) ssl_certificate named.pem; ssl_certificate_key named.key; \(Self.locations)"),
            ], files: ["film.bin": Self.film, "text.txt": Data(Self.text.utf8)])
        try "ada:{PLAIN}secret\n".write(to: folder.appendingPathComponent("users"), atomically: true, encoding: .utf8)
    }

    var url: String { url("plain", scheme: "http", host: "127.0.0.1") }
    /// The host that the certificate names.
    var secureURL: String { url("tls") }
    /// A host that the certificate doesn't name.
    var wrongURL: String { url("tls", host: "127.0.0.1") }
    var authority: String { file("root.pem") }
}
#endif
