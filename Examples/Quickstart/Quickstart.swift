import Errand
import ErrandSystemTransport
import ErrandTesting

/// Starts a server in the process and shows what Errand does with it, chapter by chapter.
@main
struct Quickstart {
    static func main() async throws {
        let shop = try Shop()
        print("Errand \(ErrandInfo.version): a shop listens at \(shop.server.url)\n")
        try await TypedRequests.run(shop)
        try await CallStyles.run(shop)
        try await Hooks.run(shop)
        try await URLFiltersChapter.run(shop)
        try await Failures.run(shop)
        try await ManyAtOnce.run(shop)
        try await CompositesChapter.run(shop)
        try await CacheChapter.run(shop)
        try await DownloadChapter.run(shop)
        try await LoadingChapter.run(shop)
        try await RecordingChapter.run(shop)
        try await ReplayChapter.run(shop)
        try await SchemaChapter.run(shop)
        try await StreamingChapter.run(shop)
        try await SocketChapter.run(shop)
        try await XMLChapter.run(shop)
        try await RetryChapter.run(shop)
        try await SessionChapter.run(shop)
        try await UploadChapter.run(shop)
        try await ResumableUploadChapter.run()
        try await OutboxChapter.run(shop)
        try await SharingChapter.run()
        print("That was all. Read Examples/Quickstart to see how each line came about.")
    }

    static func chapter(_ title: String) { print("── \(title)") }
    static func line(_ text: String) { print("   " + text) }
    static func end() { print() }
}
