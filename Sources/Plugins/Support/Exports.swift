// What this target's users need as well; seen within the package only.
@_exported import ErrandEssentials
