import Errand
import ErrandURLSessionTransport

#if os(Linux)
import ErrandCurlTransport
#endif

/// The transports of this package.
enum Wire: CaseIterable, Sendable {
    #if os(Linux)
    case curl
    #endif
    case urlSession

    var transport: any Transport {
        switch self {
        #if os(Linux)
        case .curl: CurlTransport()
        #endif
        case .urlSession: URLSessionTransport()
        }
    }

    /// The transports that parse heads as strictly as RFC 9112 requires, and send a request while they receive its
    /// response. On Linux, URLSession accepts "Http/1.1", rejects a head without a reason phrase, and reads a whole
    /// stream before it sends it.
    static var strict: [Wire] {
        #if os(Linux)
        [.curl]
        #else
        [.urlSession]
        #endif
    }
}
