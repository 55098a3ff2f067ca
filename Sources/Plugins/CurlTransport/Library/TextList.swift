#if os(Linux) || os(Android)
import CErrandCurl
import ErrandSupport

/// Lines as libcurl's list.
final class TextList {
    let nodes: UnsafeMutableBufferPointer<errand_curl_slist>

    init(_ lines: [String]) {
        nodes = .allocate(capacity: lines.count)
        for (index, line) in lines.enumerated() {
            let next = index + 1 < lines.count ? nodes.baseAddress?.advanced(by: index + 1) : nil
            nodes.initializeElement(at: index, to: errand_curl_slist(data: strdup(line), next: next))
        }
    }

    deinit {
        for node in nodes { free(node.data) }
        nodes.deallocate()
    }
}
#endif
