import Errand
import ErrandEssentials
package import ErrandTesting

extension UploadOrigin {
    package static func joins(_ request: RecordedRequest) -> Bool {
        request.headers["Upload-Concat"]?.hasPrefix("final;") == true
    }
}

extension UploadOrigin.State {
    mutating func join(_ request: RecordedRequest) -> TestResponse {
        let list = request.headers["Upload-Concat"]?.dropFirst("final;".count) ?? ""
        let ids = list.split(separator: " ").map { String($0.split(separator: "/").last ?? "") }
        var headers: HTTPHeaders = ["Tus-Resumable": "1.0.0"]
        if request.headers.contains("Upload-Length") { return .status(400, headers: headers) }
        var whole = UploadOrigin.Upload()
        for id in ids {
            guard let segment = uploads[id] else { return .status(404, headers: headers) }
            guard segment.isPartial, segment.isComplete else { return .status(400, headers: headers) }
            whole.data += segment.data
            whole.count += segment.count
        }
        if deletesJoined { ids.forEach { uploads[$0] = nil } }
        lastID += 1
        (whole.total, whole.isComplete) = (whole.count, true)
        whole.metadata = request.headers["Upload-Metadata"]
        uploads["\(lastID)"] = whole
        bodies.append(whole.data)
        joined.append(whole.metadata)
        headers[.location] = "/files/\(lastID)"
        return .status(201, headers: headers)
    }
}
