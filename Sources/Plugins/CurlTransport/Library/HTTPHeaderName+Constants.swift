#if os(Linux)
import Errand

extension HTTPHeaderName {
    /// RFC 9110, section 12.5.3.
    static let acceptEncoding: HTTPHeaderName = "Accept-Encoding"
    /// RFC 9110, section 10.1.1.
    static let expect: HTTPHeaderName = "Expect"
    /// RFC 9110, section 14.2.
    static let range: HTTPHeaderName = "Range"
}
#endif
