// The code that docs/tutorials/first-app.md builds, step by step.
import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

enum FirstAppTutorial {
    nonisolated struct Station: Decodable, Sendable {
        let id: Int
        let name: String
        let bikes: Int
    }

    struct GetStation: Request {
        typealias Output = Station
        let id: Int
        var path: String { "stations/\(id)" }
    }

    struct RentBike: Request {
        typealias Output = Void
        let station: Int
        let user: String
        var method: HTTPMethod { .post }
        var path: String { "stations/\(station)/rentals" }
        var body: RequestBody { .json(["user": user]) }
    }

    nonisolated struct Refusal: Decodable, Sendable { let reason: String }

    @MainActor final class StationScreen {
        private(set) var text = ""
        private let agent: any Agent

        init(agent: any Agent) { self.agent = agent }

        func load(_ id: Int) async {
            do {
                let station = try await agent.send(GetStation(id: id)).value
                text = "\(station.name): \(station.bikes) bikes"
            } catch {
                show(error)
            }
        }

        func rent(_ id: Int, for user: String) async {
            do {
                try await agent.send(RentBike(station: id, user: user))
                text = "Enjoy the ride."
            } catch let error as ErrandError where error.response?.status == 409 {
                text = (try? error.response?.json(Refusal.self).reason) ?? "No bike is left."
            } catch {
                show(error)
            }
        }

        private func show(_ error: any Error) {
            if !error.isCancellation { text = error.localizedDescription }
        }
    }

    @MainActor static func program() async {
        let agent = NetworkAgent(baseURL: "https://bikes.example.com/v1", transport: .system)
        print(agent.explain(GetStation(id: 7)))
        let screen = StationScreen(agent: agent)
        await screen.load(7)
        print(screen.text)
    }
}

@Suite("The tutorial of a first app", .leakChecked) struct FirstAppTutorialTests {
    typealias GetStation = FirstAppTutorial.GetStation
    typealias StationScreen = FirstAppTutorial.StationScreen

    @Test("a station, a refusal and a failure are shown")
    @MainActor func screen() async throws {
        let stub = StubTransport()
        stub.on(.get, "/stations/7", response: .json(#"{"id":7,"name":"Harbour","bikes":3}"#))
        stub.on(.post, "/stations/7/rentals", response: .json(#"{"reason":"The lock is broken."}"#).status(409))
        stub.on(.get, "/stations/8", response: .failure(ErrandError(.cannotConnect, "no connection")))
        let screen = StationScreen(agent: NetworkAgent(baseURL: "https://bikes.example.com", transport: stub))

        await screen.load(7)
        #expect(screen.text == "Harbour: 3 bikes")
        await screen.rent(7, for: "ada")
        #expect(screen.text == "The lock is broken.")
        await screen.load(8)
        #expect(screen.text == "The server couldn't be reached.")
    }
}
