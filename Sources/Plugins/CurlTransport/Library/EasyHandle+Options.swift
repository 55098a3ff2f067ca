#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import ErrandMessageSyntax

extension EasyHandle {
    func setCommon(_ loop: CurlLoop) throws(ErrandError) {
        let configuration = loop.configuration
        set(ERRAND_CURLOPT_NOSIGNAL, 1)
        set(ERRAND_CURLOPT_PROTOCOLS, ERRAND_CURLPROTO_HTTP_HTTPS)
        set(ERRAND_CURLOPT_HTTP09_ALLOWED, 0)
        set(ERRAND_CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        set(ERRAND_CURLOPT_PATH_AS_IS, 1)
        set(ERRAND_CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        set(
            ERRAND_CURLOPT_HTTP_VERSION,
            loop.speaksHTTP2 ? ERRAND_CURL_HTTP_VERSION_2TLS : ERRAND_CURL_HTTP_VERSION_1_1)
        if loop.library.avoids(.connectionReuse) {
            set(ERRAND_CURLOPT_FRESH_CONNECT, 1)
            set(ERRAND_CURLOPT_FORBID_REUSE, 1)
        }
        let seconds = min(configuration.keepAliveTime.bounded.components.seconds, Int64(Int32.max))
        set(ERRAND_CURLOPT_MAXAGE_CONN, max(1, Int(seconds)))
        if loop.library.avoids(.unseenHeaders) { set(ERRAND_CURLOPT_HEADER, 1) }
        if loop.library.leavesLookups { set(ERRAND_CURLOPT_QUICK_EXIT, 1) }
        easy.collectErrors()
        switch configuration.addressFamily {
        case .any: break
        case .v4: set(ERRAND_CURLOPT_IPRESOLVE, ERRAND_CURL_IPRESOLVE_V4)
        case .v6: set(ERRAND_CURLOPT_IPRESOLVE, ERRAND_CURL_IPRESOLVE_V6)
        }
        if let url = configuration.dnsOverHTTPS { try require(ERRAND_CURLOPT_DOH_URL, url.absoluteString) }
        if let address = configuration.localAddress { try require(ERRAND_CURLOPT_INTERFACE, address) }
        if let path = configuration.unixSocketPath { try require(ERRAND_CURLOPT_UNIX_SOCKET_PATH, path) }
        // Without these values, libcurl would look for a proxy in the environment for each request.
        try require(ERRAND_CURLOPT_PROXY, loop.proxy.http)
        try require(ERRAND_CURLOPT_NOPROXY, "")
        try setTLS(configuration.tls, loop)
    }

    static let longest = Nanoseconds.of(.seconds(86_400))

    /// Removes the time limit from a cancelled name lookup, so libcurl reports the lookup's end only after its thread
    /// has ended.
    func waitLong() { setConnectLimit(.max) }

    func setScheme(isSecure: Bool, _ loop: CurlLoop) throws(ErrandError) {
        if loop.proxy.http != loop.proxy.https {
            try require(ERRAND_CURLOPT_PROXY, isSecure ? loop.proxy.https : loop.proxy.http)
        }
        if loop.configuration.httpVersion == .http3Only {
            set(
                ERRAND_CURLOPT_HTTP_VERSION,
                isSecure ? ERRAND_CURL_HTTP_VERSION_3ONLY : ERRAND_CURL_HTTP_VERSION_1_1)
        }
        // Concurrent requests wait for the first connection, which may be able to carry all of them.
        set(ERRAND_CURLOPT_PIPEWAIT, isSecure && loop.speaksHTTP2 ? 1 : 0)
    }

    func setProxy(for url: URL, _ loop: CurlLoop) throws(ErrandError) {
        try require(ERRAND_CURLOPT_PROXY, loop.proxy.proxy(for: url))
    }

    /// Makes the request try an alternative. Until the alternative has worked once, a new QUIC connection competes with
    /// a TCP connection. Later, QUIC is used alone. The server's certificate must name the origin.
    func setRoute(_ route: AlternativeTable.Route, of url: URL, _ loop: CurlLoop) {
        if !loop.addresses.isEmpty { setAddresses(for: url, by: route, loop) }
        let host = route.host.utf8.contains(UInt8(ascii: ":")) ? "[\(route.host)]" : route.host
        easy.set(ERRAND_CURLOPT_CONNECT_TO, LineList(["::\(host):\(route.port)"]))
        if route.isProbe {
            set(ERRAND_CURLOPT_HTTP_VERSION, ERRAND_CURL_HTTP_VERSION_3)
            set(ERRAND_CURLOPT_FRESH_CONNECT, 1)
        } else {
            set(ERRAND_CURLOPT_HTTP_VERSION, ERRAND_CURL_HTTP_VERSION_3ONLY)
            setConnectLimit(min(loop.connectTimeout, Self.alternativeConnectTimeout))
        }
    }

    /// The maximum time to connect with QUIC before falling back to TCP.
    private static let alternativeConnectTimeout = Nanoseconds.of(milliseconds: 3_000)

    /// Throws if the host is an address of the excluded family, to which some libcurl versions would connect.
    func checkFamily(of url: URL, _ loop: CurlLoop) throws(ErrandError) {
        guard let host = url.host, HostName.isAddress(host) else { return }
        let isV6 = host.utf8.contains(UInt8(ascii: ":"))
        if isV6 == (loop.configuration.addressFamily == .v6) { return }
        throw ErrandError(
            .nameLookupFailed,
            "the URL's host is an \(isV6 ? "IPv6" : "IPv4") address, but the configuration's address family excludes it"
        )
    }

    /// Sets the configured addresses of a host. libcurl keeps them in its connection pool. Called for every request if
    /// the transport has addresses.
    func setAddresses(for url: URL, by route: AlternativeTable.Route? = nil, _ loop: CurlLoop) {
        let lines = loop.addresses.lines(for: url, by: route)
        easy.set(ERRAND_CURLOPT_RESOLVE, lines.isEmpty ? nil : LineList(lines))
    }

    func setPins(for url: URL, _ pins: PinTable) throws(ErrandError) {
        guard let keys = try pins.keys(for: url) else { return easy.clear(ERRAND_CURLOPT_PINNEDPUBLICKEY) }
        guard !keys.isEmpty, keys.allSatisfy({ Data(base64Encoded: $0)?.count == Self.hashBytes }) else {
            throw ErrandError(.insecureConnection, "a public key pin isn't a Base64-encoded SHA-256 hash")
        }
        try require(ERRAND_CURLOPT_PINNEDPUBLICKEY, keys.map { "sha256//\($0)" }.joined(separator: ";"))
    }

    private static let hashBytes = 32

    private func setTLS(_ tls: CurlTLS, _ loop: CurlLoop) throws(ErrandError) {
        set(ERRAND_CURLOPT_SSL_VERIFYPEER, 1)
        set(
            ERRAND_CURLOPT_SSL_VERIFYHOST,
            tls.dangerouslyAcceptsCertificatesOfOtherHosts ? 0 : ERRAND_CURL_VERIFYHOST_NAME)
        set(
            ERRAND_CURLOPT_SSLVERSION,
            tls.minimumVersion == .v1_3 ? ERRAND_CURL_SSLVERSION_TLSv1_3 : ERRAND_CURL_SSLVERSION_TLSv1_2)
        switch tls.roots {
        case .system: try setAuthorities(loop.library.authorities)
        case .file(let file):
            try require(ERRAND_CURLOPT_CAINFO, file.path)
            try require(ERRAND_CURLOPT_PROXY_CAINFO, file.path)
            try leaveOutDirectory(loop)
        case .pem(let data):
            try require(ERRAND_CURLOPT_CAINFO_BLOB, data)
            try leaveOutDirectory(loop)
        }
    }

    /// Sets or removes the handle's client certificate.
    ///
    /// libcurl doesn't reuse a connection or TLS session that was opened with another certificate. libcurl compares
    /// only the path or the bytes of a certificate, so this method spells the path or the bytes of each choice in
    /// another way.
    func setIdentity(_ choice: CurlIdentities.Choice?, _ loop: CurlLoop) throws(ErrandError) {
        for option in Self.identityOptions { easy.clear(option) }
        guard let choice else { return }
        let (identity, number) = (choice.identity, choice.number)
        try loop.library.check(identity)
        switch identity.source {
        case .pemFiles(let certificate, let key):
            try require(ERRAND_CURLOPT_SSLCERT, Self.path(of: certificate, number))
            try require(ERRAND_CURLOPT_SSLKEY, key.path)
        case .pem(let certificate, let key):
            try require(ERRAND_CURLOPT_SSLCERT_BLOB, Self.marked(certificate, number))
            try require(ERRAND_CURLOPT_SSLKEY_BLOB, key)
        case .pkcs12File(let file):
            try require(ERRAND_CURLOPT_SSLCERTTYPE, "P12")
            try require(ERRAND_CURLOPT_SSLCERT, Self.path(of: file, number))
        case .pkcs12(let data):
            try require(ERRAND_CURLOPT_SSLCERTTYPE, "P12")
            try require(ERRAND_CURLOPT_SSLCERT_BLOB, Self.marked(data, number))
        }
        if let password = identity.password { try require(ERRAND_CURLOPT_KEYPASSWD, password) }
    }

    /// Returns a path that is spelled in another way for each number, for example `/.//a` for 2.
    private static func path(of file: URL, _ number: Int) -> String {
        let path = file.path
        guard path.hasPrefix("/") else { return path }
        return "/" + String(number, radix: 2).map { $0 == "1" ? "./" : "/" }.joined() + path.dropFirst()
    }

    /// Returns a certificate with other blanks after it for each number. Readers of PEM and PKCS#12 ignore them.
    private static func marked(_ certificate: Data, _ number: Int) -> Data {
        certificate + Data("\n".utf8)
            + Data(String(number, radix: 2).utf8.map { $0 == UInt8(ascii: "1") ? 0x0A : 0x20 })
    }

    private static let identityOptions = [
        ERRAND_CURLOPT_SSLCERT, ERRAND_CURLOPT_SSLKEY, ERRAND_CURLOPT_SSLCERT_BLOB, ERRAND_CURLOPT_SSLKEY_BLOB,
        ERRAND_CURLOPT_SSLCERTTYPE, ERRAND_CURLOPT_KEYPASSWD,
    ]

    /// Makes libcurl ignore its built-in directory of authorities. libcurl's own handle for DNS over HTTPS inherits
    /// only a path that is set, so it gets a path that doesn't exist. GnuTLS would reject such a path.
    private func leaveOutDirectory(_ loop: CurlLoop) throws(ErrandError) {
        easy.clear(ERRAND_CURLOPT_CAPATH)
        guard loop.configuration.dnsOverHTTPS != nil, loop.library.hasOpenSSL else { return }
        try require(ERRAND_CURLOPT_CAPATH, "/nonexistent")
    }

    private func setAuthorities(_ authorities: SystemAuthorities) throws(ErrandError) {
        switch authorities {
        case .builtIn: break
        case .file(let path):
            try require(ERRAND_CURLOPT_CAINFO, path)
            try require(ERRAND_CURLOPT_PROXY_CAINFO, path)
        case .directory(let path):
            // By default, libcurl requires its built-in file, which may be missing.
            easy.clear(ERRAND_CURLOPT_CAINFO)
            easy.clear(ERRAND_CURLOPT_PROXY_CAINFO)
            try require(ERRAND_CURLOPT_CAPATH, path)
            try require(ERRAND_CURLOPT_PROXY_CAPATH, path)
        }
    }

    private func require(_ option: Int32, _ text: String) throws(ErrandError) {
        if text.utf8.contains(0) { throw ErrandError(.invalidRequest, "an option of the transport contains a NUL") }
        try check(easy.set(option, text: text))
    }

    private func require(_ option: Int32, _ data: Data) throws(ErrandError) {
        try check(easy.set(option, blob: data))
    }

    private func check(_ code: Int32) throws(ErrandError) {
        if code != 0 { throw CurlFailure(code: code, summary: CurlLibrary.description(of: code)).error }
    }
}
#endif
