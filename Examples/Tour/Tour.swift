import Errand
import ErrandExampleShop
import ErrandReplay
import ErrandSystemTransport
import ErrandTesting

/// Starts a server in the process and shows the plugins, chapter by chapter.
@main
struct Tour {
    static func main() async throws {
        let recording = try RecordingFile()
        let cassette = try ReplayTransport(har: recording.file, mode: .recordAll(over: .system))
        let shop = try Shop(over: cassette)
        print("Errand \(ErrandInfo.version): a shop listens at \(shop.server.url)\n")
        try await URLFiltersChapter.run(shop)
        try await CacheChapter.run(shop)
        try await DownloadChapter.run(shop)
        try await LoadingChapter.run(shop)
        try await RecordingChapter.run(shop)
        try await ReplayChapter.run(shop, cassette, recording)
        try await SchemaChapter.run(shop)
        try await StreamingChapter.run(shop)
        try await SocketChapter.run(shop)
        try await XMLChapter.run(shop)
        try await RetryChapter.run(shop)
        try await SessionChapter.run(shop)
        try await CredentialsChapter.run()
        try await UploadChapter.run(shop)
        try await ResumableUploadChapter.run()
        try await OutboxChapter.run(shop)
        try await SharingChapter.run()
        print("That was all. Read Examples/Tour to see how each line came about.")
    }
}
