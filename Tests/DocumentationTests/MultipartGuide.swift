// The code of docs/multipart.md.
import Errand
import ErrandBatch
import ErrandHTTPSyntax
import ErrandMultipart
import Foundation

enum MultipartGuide {
    struct UploadPhoto: Request {
        typealias Output = Void
        let photo: URL

        var method: HTTPMethod { .post }
        var path: String { "photos" }
        var body: RequestBody {
            .multipart(.field("title", "A day at the sea"), .file(photo, name: "photo"))
        }
    }

    private static func writing(_ thumbnail: Data, _ photo: URL, _ log: URL) {
        let parts: [Multipart.Part] = [
            .field("title", "Sea"),
            .json(["x": 1, "y": 2], name: "position"),
            .data(thumbnail, name: "thumbnail", fileName: "t.png"),
            .file(photo, name: "photo", fileName: "sea.jpg", contentType: "image/jpeg"),
            .stream(length: 1000, name: "log") { HTTPBody(file: log) },
        ]
        let form = RequestBody.multipart(["album": 7, "tags": ["sea", "sun"]], parts)
        _ = form

        let related = Multipart(.related, boundary: "cut-here", parts: [.json(["name": "Sea"]), .file(photo)])
        let call = Call<Void>(.put, "albums/7", body: .multipart(related))
        _ = call
    }

    private static func sending(_ agent: NetworkAgent, _ photo: URL, _ photos: [URL]) async throws {
        do {
            try await agent.send(UploadPhoto(photo: photo))
        } catch let error as ErrandError where error.code == .fileFailed {
            let reason = error.underlying as? MultipartError
            print(reason?.code == .fileChanged ? "The photo was edited meanwhile." : "\(error)")
        }

        let options = CallOptions(progress: { progress in
            print(progress.fraction ?? 0, "attempt \(progress.transfer)")
        })
        try await agent.send(UploadPhoto(photo: photo), options: options)

        let batch = Batch(photos.map(UploadPhoto.init), maximumConcurrent: 3).reportingEach { index, progress in
            print(index, progress.sent, progress.totalToSend ?? 0)
        }
        let all = CallOptions(progress: { print($0.fraction ?? 0) })
        let responses = try await agent.run(batch, options: all)
        _ = responses
    }

    private static func reading(_ agent: NetworkAgent, _ show: (String?, Data) -> Void) async throws {
        let parts = try await agent.send(Call<ReceivedParts>(.get, "albums/7")).value
        for try await part in parts {
            guard part.contentType?.type == "image" else { continue }
            let image = try await part.data(upTo: 10 << 20)
            show(part.fileName, image)
        }

        let ranges = Call<HTTPResponse>(.get, "film.mp4") {
            $0.headers["Range"] = "bytes=0-99,1000-1099"
            $0.delivery = .stream
        }
        for try await part in try await agent.send(ranges).value.parts() { print(part.headers) }
    }
}
