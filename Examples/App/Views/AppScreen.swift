import ErrandAppBackend
import ErrandAppModels
import Foundation
public import SwiftUI

/// The list of screens. It runs its own server and models.
public struct AppScreen: View {
    @State private var demo: Result<Demo, any Error>?
    @Environment(\.scenePhase) private var phase
    @State private var wasInBackground = false

    /// Creates the list. The server starts when the list appears.
    public init() {}

    /// The list, or an error message if the server didn't start.
    public var body: some View {
        NavigationStack {
            switch demo {
            case .success(let demo): ScreenList(demo: demo).id(ObjectIdentifier(demo))
            case .failure(let error): FailureText(text: error.localizedDescription)
            case nil: ProgressView("Starting")
            }
        }
        .task {
            if demo == nil { demo = Result { try Demo() } }
        }
        #if !os(macOS)
        // A listening server doesn't survive when the system suspends the app.
        .onChange(of: phase) {
            if phase == .background { wasInBackground = true }
            guard phase == .active, wasInBackground else { return }
            (demo, wasInBackground) = (Result { try Demo() }, false)
        }
        #endif
    }
}

/// The server in this process, the models that talk to it, and a file to upload.
final class Demo {
    let backend: Backend
    let models: AppModels
    let film: URL

    init() throws {
        backend = try Backend()
        let folder = FileManager.default.temporaryDirectory.appending(path: "ErrandApp")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        film = folder.appending(path: "film.mp4")
        try Data(repeating: 0x2E, count: 8 << 20).write(to: film)
        models = AppModels(url: backend.url, folder: folder)
    }
}

private struct ScreenList: View {
    let demo: Demo

    var body: some View {
        List {
            NavigationLink {
                FeedView(model: demo.models.feed) { demo.backend.articles.revise() }
            } label: {
                Label("Feed, from the cache and from page to page", systemImage: "newspaper")
            }
            NavigationLink {
                SearchView(model: demo.models.search)
            } label: {
                Label("Search as you type", systemImage: "magnifyingglass")
            }
            NavigationLink {
                AccountView(model: demo.models.account) { demo.backend.accounts.expireToken() }
            } label: {
                Label("Account, with a token that expires", systemImage: "person")
            }
            NavigationLink {
                UploadView(model: demo.models.upload, film: demo.film)
            } label: {
                Label("Upload that goes on after a break", systemImage: "arrow.up.doc")
            }
            NavigationLink {
                ChatView(model: demo.models.chat)
            } label: {
                Label("Chat, word by word", systemImage: "bubble.left.and.bubble.right")
            }
        }
        .navigationTitle("Errand")
    }
}

/// A failure's message.
struct FailureText: View {
    let text: String?

    var body: some View {
        if let text {
            Label(text, systemImage: "exclamationmark.triangle").foregroundStyle(.red)
        }
    }
}
