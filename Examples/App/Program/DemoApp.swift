import ErrandAppViews
import SwiftUI

#if os(macOS)
import AppKit
#endif

/// Run it on a Mac with `swift run errand-app`: one screen per common task, and a server in the same process.
@main struct DemoApp: App {
    init() {
        #if os(macOS)
        // A program without a bundle, as started by `swift run`, gets no Dock icon and no keyboard input.
        NSApplication.shared.setActivationPolicy(.regular)
        Task { NSApplication.shared.activate() }
        #endif
    }

    var body: some Scene {
        WindowGroup("Errand") { AppScreen() }
    }
}
