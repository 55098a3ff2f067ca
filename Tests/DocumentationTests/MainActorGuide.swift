// The code of docs/main-actor.md.
import Errand
import Foundation

nonisolated struct Member: Decodable, Sendable {
    let id: Int
    let name: String
}

struct GetMember: Request {
    typealias Output = Member
    let id: Int
    var path: String { "members/\(id)" }
}

nonisolated protocol ClubRequest: Request {}

nonisolated extension ClubRequest {
    var headers: HTTPHeaders { ["X-Club": "7"] }
}

@MainActor final class Banner {
    var text = ""
    var fraction = 0.0

    var accessory: some Accessory {
        MainActorAccessory { [weak self] activity, event in
            if case .willStop(.failure(let error)) = event { self?.text = error.localizedDescription }
        }
    }

    func upload(_ photo: URL, with agent: NetworkAgent) async throws {
        let options = CallOptions(accessories: [accessory], progressOnMain: { self.fraction = $0.fraction ?? 0 })
        try await agent.send(Call<Void>(.post, "photos", body: .file(photo)), options: options)
    }
}
