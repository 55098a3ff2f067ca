import Errand
import ErrandURLSessionTransport

#if os(Linux)
import ErrandCurlTransport
#endif

/// The transports that Errand brings.
enum Wire: CaseIterable, Sendable {
    #if os(Linux)
    case curl
    #endif
    case urlSession

    /// A new one.
    var transport: any Transport {
        switch self {
        #if os(Linux)
        case .curl: CurlTransport()
        #endif
        case .urlSession: URLSessionTransport()
        }
    }

    /// Those that read heads as strictly as RFC 9112 has them, and send a request while they receive its response. On Linux
    /// URLSession accepts "Http/1.1", refuses a head without a reason, and reads a stream whole before it sends it.
    static var strict: [Wire] {
        #if os(Linux)
        [.curl]
        #else
        [.urlSession]
        #endif
    }
}
