#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport
import Synchronization

/// The process's libcurl. Unless it's linked, the first transport loads it.
struct CurlLibrary {
    let version: CurlVersion
    let avoided: CurlVersionRule.AvoidedSet
    /// The TLS library and its version, such as "OpenSSL/3.0.17". Empty without TLS.
    let tls: String
    let hasTLS: Bool
    let hasHTTP2: Bool
    let hasHTTP3: Bool
    let authorities: SystemAuthorities

    private static let loaded = Mutex<CurlLibrary?>(nil)

    /// Loads libcurl. Doesn't remember a failure, because the next call may succeed. Throws `transportUnavailable` if
    /// the library is missing or too old, and ``DescriptorShortage`` if descriptors run out.
    static func load() throws -> CurlLibrary {
        try loaded.withLock { loaded in
            if let loaded { return loaded }
            if let reason = loadFailure() {
                if DescriptorShortage.isNamed(in: reason) { throw DescriptorShortage() }
                throw unavailable("\(libraryName) could not be loaded: \(reason)")
            }
            let library = try check(
                CurlVersion(number: errand_curl_version_number()), versionText,
                features: errand_curl_features())
            loaded = library
            return library
        }
    }

    static func check(_ version: CurlVersion, _ name: String, features: Int32) throws(ErrandError) -> CurlLibrary {
        let avoided = CurlVersionRule.avoided(in: version)
        if avoided.contains(.library) {
            throw unavailable("libcurl \(name) is older than \(CurlVersion.oldest)")
        }
        return CurlLibrary(
            version: version, avoided: avoided, tls: tlsText,
            hasTLS: features & ERRAND_CURL_FEATURE_TLS != 0,
            hasHTTP2: features & ERRAND_CURL_FEATURE_HTTP2 != 0,
            hasHTTP3: features & ERRAND_CURL_FEATURE_HTTP3 != 0,
            authorities: .ofSystem())
    }

    private static func unavailable(_ reason: String) -> ErrandError {
        ErrandError(
            .transportUnavailable,
            "\(reason). Install it: the package is libcurl4 on Debian and Ubuntu, libcurl on Fedora")
    }

    func avoids(_ what: CurlVersionRule.Avoided) -> Bool { avoided.contains(what) }

    var hasOpenSSL: Bool {
        ["OpenSSL", "LibreSSL", "BoringSSL", "quictls", "AWS-LC"].contains { tls.contains($0) }
    }

    func check(_ identity: CurlClientIdentity) throws(ErrandError) {
        if hasOpenSSL || identity.isInFiles { return }
        throw ErrandError(
            .transportUnavailable,
            "this libcurl uses \(tls.isEmpty ? "no TLS library" : tls), which accepts client certificates only from PEM files"
        )
    }

    var runsOnAnyThread: Bool { !avoids(.callersThread) }
    /// Whether a callback reports when a request has its connection.
    var reportsAttempts: Bool { !avoids(.attemptCallback) }
    /// Whether a handle can be removed without waiting for its name lookup.
    var leavesLookups: Bool { !avoids(.quickExit) }
    var speaksHTTP2: Bool { hasHTTP2 && !avoids(.http2) }
    var speaksHTTP3: Bool { hasHTTP3 && !avoids(.http3) }

    var withoutHTTP3: ErrandError {
        ErrandError(
            .transportUnavailable,
            "HTTP/3 is required, but this libcurl, \(version), \(hasHTTP3 ? "is too old for it" : "was built without it")"
        )
    }
}

/// The process or the system is out of descriptors, which is temporary.
struct DescriptorShortage: Error {
    static func isNamed(in text: String) -> Bool {
        [EMFILE, ENFILE].contains { text.contains(systemErrorText($0)) }
    }

    static var isReported: Bool { errno == EMFILE || errno == ENFILE }

    /// Whether there are enough descriptors again. A name lookup and a connection need up to four descriptors.
    static var isOver: Bool { errand_has_descriptors(4) != 0 }
}
#endif
