import Errand
import ErrandExampleShop
import ErrandSystemTransport
import ErrandTesting

/// Starts a server in the process and shows Errand's basics, chapter by chapter.
@main
struct Quickstart {
    static func main() async throws {
        let shop = try Shop(over: .system)
        print("Errand \(ErrandInfo.version): a shop listens at \(shop.server.url)\n")
        try await TypedRequests.run(shop)
        try await CallStyles.run(shop)
        try await Hooks.run(shop)
        try await Failures.run(shop)
        try await ManyAtOnce.run(shop)
        try await CompositesChapter.run(shop)
        print("Read Examples/Quickstart to see how each line came about; `swift run errand-tour` shows the plugins.")
    }
}
