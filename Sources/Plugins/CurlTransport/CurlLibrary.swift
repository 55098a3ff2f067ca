#if os(Linux)
import CErrandCurl
import Errand

/// The libcurl of this system, loaded once for the process.
struct CurlLibrary {
    /// 0x075801 for 7.88.1.
    let number: UInt32
    let version: String
    let hasTLS: Bool
    let hasHTTP2: Bool

    /// The oldest that has what is used here: 7.76, of April 2021.
    static let oldest: UInt32 = 0x074C00

    /// Throws `transportUnavailable` where it is missing or too old.
    static func load() throws -> CurlLibrary { try shared.get() }

    private static let shared: Result<CurlLibrary, ErrandError> = {
        if let reason = errand_curl_load() {
            return .failure(unavailable("libcurl.so.4 could not be loaded: \(String(cString: reason))"))
        }
        return check(number: errand_curl_version_number(), version: String(cString: errand_curl_version()))
    }()

    static func check(number: UInt32, version: String) -> Result<CurlLibrary, ErrandError> {
        guard number >= oldest else { return .failure(unavailable("libcurl \(version) is older than 7.76")) }
        let features = errand_curl_features()
        return .success(
            CurlLibrary(
                number: number, version: version, hasTLS: features & ERRAND_CURL_FEATURE_TLS != 0,
                hasHTTP2: features & ERRAND_CURL_FEATURE_HTTP2 != 0))
    }

    private static func unavailable(_ reason: String) -> ErrandError {
        ErrandError(
            .transportUnavailable,
            "\(reason). Install it: the package is libcurl4 on Debian and Ubuntu, libcurl on Fedora")
    }

    /// From 7.88 on libcurl's TLS writes raise no SIGPIPE, so that any thread may run it.
    var runsOnAnyThread: Bool { number >= 0x075800 }
    /// Whether a callback tells that a request has its connection.
    var tellsRequestStart: Bool { number >= 0x075000 }
    /// Whether a handle can be removed in a name lookup without waiting for it (L11).
    var leavesLookups: Bool { number >= 0x075700 }
}
#endif
