#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials

/// The method and the small body of a request as an easy handle has them, so that only what differs is set, and a handle that
/// has sent a small body is used again.
struct RequestForm {
    /// What libcurl sends in place of the method that it would choose; nil for that one.
    private var method: HTTPMethod?
    /// Whether libcurl has copied a body, and sends a POST.
    private var hasBody = false

    mutating func set(_ method: HTTPMethod?, on handle: EasyHandle) throws(ErrandError) {
        if self.method == method { return }
        if let method {
            try handle.set(text: ERRAND_CURLOPT_CUSTOMREQUEST, method.rawValue, .invalidRequest)
        } else {
            handle.easy.clear(ERRAND_CURLOPT_CUSTOMREQUEST)
        }
        self.method = method
    }

    /// Has libcurl copy a body, which it sends with the head.
    mutating func setBody(_ data: Data, on handle: EasyHandle) {
        handle.easy.setBody(data)
        hasBody = true
    }

    /// Frees the copy, and makes the next request a GET.
    mutating func removeBody(from handle: EasyHandle) {
        if !hasBody { return }
        handle.easy.clear(ERRAND_CURLOPT_COPYPOSTFIELDS)
        handle.set(offset: ERRAND_CURLOPT_POSTFIELDSIZE_LARGE, -1)
        handle.set(ERRAND_CURLOPT_HTTPGET, 1)
        hasBody = false
    }
}
#endif
