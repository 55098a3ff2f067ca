#if os(Linux)
import CErrandBareCurl
import Foundation

/// Sends requests with libcurl from C, as the yardstick.
enum BareCurl {
    /// The headers that `CurlTransport` adds to a request, and the headers that an agent adds.
    static let transportHeaders = ["Accept-Encoding: gzip, deflate, br, zstd"]
    static let agentHeaders =
        transportHeaders + ["User-Agent: errand-bench (Linux) Errand/0.1.0", "Accept-Language: en-US, en;q=0.9"]

    /// Returns 0 or libcurl's error code.
    static func send(
        _ url: String, authority: String? = nil, headers: [String] = transportHeaders, body: Int = 0, lanes: Int,
        count: Int
    ) -> Int32 {
        var list: [UnsafePointer<CChar>?] = headers.map { UnsafePointer(strdup($0)) } + [nil]
        defer { for line in list { free(UnsafeMutablePointer(mutating: line)) } }
        return bare_curl_send(url, authority, &list, body, Int32(lanes), count)
    }
}
#endif
