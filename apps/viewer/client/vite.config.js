import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  build: {
    target: 'es2022',
    assetsInlineLimit: 0, // the page's security policy takes files only, no data: addresses
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 2000,
  },
});
