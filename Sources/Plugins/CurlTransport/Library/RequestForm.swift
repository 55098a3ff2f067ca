#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials

/// The method and small body set on an easy handle. Allows setting only differences, and reusing a handle that sent a
/// small body.
struct RequestForm {
    /// Replaces libcurl's choice, if set.
    private var method: HTTPMethod?
    /// libcurl has copied a body, and sends a POST.
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

    /// libcurl copies the body and sends it with the head.
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
